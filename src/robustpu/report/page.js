// Sorts and filters the list of suspects. The page is whole without it.
"use strict";
(() => {
  addEventListener("beforeprint", () => {
    for (const details of document.querySelectorAll(":is(#rounds, #data, #important) details")) details.open = true;
  });
  const unfold = () => {
    const section = document.getElementById(location.hash.slice(1));
    if (section?.id === "rounds") section.querySelector("details").open = true;
  };
  addEventListener("hashchange", unfold);
  unfold();
  const table = document.getElementById("list");
  if (!table) return;
  const FIRST = 50;
  const body = table.tBodies[0];
  const heads = [...table.tHead.rows[0].cells];
  const filter = document.getElementById("filter");
  const driver = document.getElementById("driver");
  const shown = document.getElementById("shown");
  const more = document.getElementById("more");
  const order = new Intl.Collator("en", { numeric: true, sensitivity: "base" });
  let all = false;
  let sorted = [0, 1];

  const toNumber = (text) => {
    const found = text.replace(/[,\s]/g, "").replace("−", "-");
    return found === "" ? NaN : Number(found);
  };
  const rows = [...body.rows].map((row, place) => ({
    row,
    place,
    text: row.textContent.toLowerCase(),
    drivers: [...row.querySelectorAll(".drivers p:not(.rest) bdi:first-of-type")].map((each) => each.textContent),
    values: [...row.cells].map((cell, i) => {
      const text = cell.dataset.v ?? cell.textContent.trim();
      return heads[i].dataset.kind === "number" ? toNumber(text) : text;
    }),
  }));

  const matches = ({ text, drivers }) =>
    filter.value.toLowerCase().split(/\s+/).every((word) => text.includes(word)) &&
    (!driver || !driver.value || drivers.includes(driver.value));

  const show = () => {
    const found = rows.filter(matches);
    const visible = new Set(all ? found : found.slice(0, FIRST));
    for (const each of rows) each.row.hidden = !visible.has(each);
    more.parentNode.hidden = visible.size === found.length;
    more.textContent = `Show all ${found.length.toLocaleString("en")}`;
    const total = rows.length.toLocaleString("en");
    const part = visible.size < found.length ? `, the first ${visible.size} shown` : "";
    shown.textContent = found.length === rows.length ? `${total} rows${part}` : `${found.length} of ${total} rows${part}`;
  };

  // Gaps come last, whichever way the list is sorted; equals keep their rank.
  const compare = (column, way) => (a, b) => {
    const left = a.values[column], right = b.values[column];
    const number = typeof left === "number";
    const gap = (value) => (number ? Number.isNaN(value) : value === "");
    if (gap(left) || gap(right)) return gap(left) - gap(right) || a.place - b.place;
    return way * (number ? left - right : order.compare(left, right)) || a.place - b.place;
  };

  const sort = (column, way) => {
    sorted = [column, way];
    rows.sort(compare(column, way));
    body.append(...rows.map((each) => each.row));
    heads.forEach((head, i) => {
      head.setAttribute("aria-sort", i !== column ? "none" : way > 0 ? "ascending" : "descending");
    });
    show();
  };

  // On a narrow screen cells have no heads above them: they are named, unless a driver tells the same.
  const score = heads.findIndex((head) => head.dataset.kind === "number" && head.textContent === "score");
  for (const { row, drivers } of rows) {
    for (const cell of [...row.cells].slice(score + 1)) {
      const name = heads[cell.cellIndex].textContent;
      if (cell.className !== "drivers") cell.dataset[drivers.includes(name) ? "twice" : "name"] = name;
    }
  }

  heads.forEach((head, column) => {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...head.childNodes);
    head.append(button);
    // What is large comes first in scores and drivers; ranks and texts go up.
    const first = column > 0 && head.dataset.kind === "number" ? -1 : 1;
    button.addEventListener("click", () => sort(column, sorted[0] === column ? -sorted[1] : first));
  });
  filter.addEventListener("input", show);
  filter.addEventListener("keydown", (event) => {
    if (event.key !== "Escape") return;
    event.preventDefault();
    filter.value = "";
    show();
  });
  if (driver) driver.addEventListener("change", show);
  more.addEventListener("click", () => {
    const next = rows.filter(matches)[FIRST];
    all = true;
    show();
    // The button is gone; the first row that it brought takes the focus.
    next.row.tabIndex = -1;
    next.row.focus();
  });
  // The header can stay in sight only where the table need not be moved sideways.
  const fit = () => {
    const region = table.parentNode;
    region.classList.toggle("fits", table.offsetWidth <= region.clientWidth);
  };
  addEventListener("resize", fit);
  document.querySelector(".tools").hidden = false;
  show();
  fit();
})();
