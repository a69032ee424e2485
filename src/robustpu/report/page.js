// Sorts, filters and takes away the list, and keeps what was checked. The page is whole without it.
"use strict";
(() => {
  const get = (id) => document.getElementById(id);
  const list = get("list");
  if (!list) return;
  const filter = get("filter"), reason = get("reason"), checked = get("checked"), length = get("length");
  const body = list.tBodies[0];
  const heads = [...list.tHead.rows[0].cells];
  const order = new Intl.Collator("en", { numeric: true, sensitivity: "base" });
  let sorted = heads.findIndex((head) => head.ariaSort === "ascending"), way = 1;

  const toNumber = (text) => {
    const found = text.replace(/[,\s]/g, "").replace("−", "-");
    return found === "" ? NaN : Number(found);
  };
  const rows = [...body.rows].map((row, place) => ({
    row,
    place,
    name: row.querySelector("input").name,
    text: row.textContent.toLowerCase(),
    reasons: [...row.querySelectorAll(".reasons p:not(.rest)")].map((line) => ({
      column: line.querySelector("bdi").textContent,
      text: [...line.querySelectorAll("bdi")].map((each) => each.textContent).join(" "),
      side: line.querySelector(".down") ? "against" : "for",
    })),
    values: [...row.cells].map((cell, i) => {
      const text = cell.dataset.v ?? cell.textContent.trim();
      return heads[i].dataset.kind === "number" ? toNumber(text) : text;
    }),
  }));
  const mark = ({ row }) => row.querySelector("input:checked")?.value ?? "";

  // What was checked is kept by the browser, if it lets pages keep something.
  const key = `robustpu ${list.dataset.key}`;
  const kept = (() => {
    try { return JSON.parse(localStorage.getItem(key)) ?? {}; } catch { return {}; }
  })();
  for (const { row, name } of rows) {
    const input = [...row.querySelectorAll("input")].find((each) => each.value === kept[name]);
    if (input) input.checked = true;
  }
  const keep = () => {
    const marks = rows.filter(mark).map((each) => [each.name, mark(each)]);
    try { localStorage.setItem(key, JSON.stringify(Object.fromEntries(marks))); } catch { /* not kept */ }
  };

  const matches = (each) =>
    filter.value.toLowerCase().split(/\s+/).every((word) => each.text.includes(word)) &&
    (!reason?.selectedIndex || each.reasons.some(({ column }) => column === reason.value)) &&
    [true, mark(each) === "yes", mark(each) === "no", mark(each) === ""][checked.selectedIndex];
  const chosen = () => {
    const found = rows.filter(matches);
    const most = Number(length.value.match(/first (\d+)/)?.[1] ?? Infinity);
    return { found, shown: found.slice(0, most) };
  };
  const count = (number, noun) => `${number.toLocaleString("en")} ${noun}${number === 1 ? "" : "s"}`;
  const show = () => {
    const { found, shown } = chosen();
    const visible = new Set(shown);
    for (const each of rows) each.row.hidden = !visible.has(each);
    const marks = rows.map(mark);
    const [yes, no] = ["yes", "no"].map((answer) => marks.filter((each) => each === answer).length);
    const part = shown.length < found.length ? `${shown.length} of ` : "";
    get("shown").textContent = part + count(found.length, "row") + (yes + no ? `; checked: ${yes} yes, ${no} no` : "");
    get("checks").hidden = yes + no === 0;
  };

  // Gaps come last, whichever way the list is sorted; equals keep their rank.
  const compare = (a, b) => {
    const left = a.values[sorted], right = b.values[sorted];
    const number = typeof left === "number";
    const gap = (value) => (number ? Number.isNaN(value) : value === "");
    if (gap(left) || gap(right)) return gap(left) - gap(right) || a.place - b.place;
    return way * (number ? left - right : order.compare(left, right)) || a.place - b.place;
  };
  const sort = () => {
    rows.sort(compare);
    body.append(...rows.map((each) => each.row));
    heads.forEach((head, i) => {
      if (head.dataset.kind) head.ariaSort = i !== sorted ? "none" : way > 0 ? "ascending" : "descending";
    });
    show();
  };

  // On a narrow screen cells have no heads above them: they are named, unless a reason tells the same.
  const titles = heads.map((head) => head.dataset.v ?? head.textContent);
  const id = 2, number = list.classList.contains("named") ? 3 : 2, score = number + 1;
  for (const { row, reasons } of rows) {
    for (const cell of [...row.cells].slice(score + 1)) {
      const name = titles[cell.cellIndex];
      const isTold = reasons.some((each) => each.column === name);
      if (cell.className !== "reasons") cell.dataset[isTold ? "twice" : "name"] = name;
    }
  }

  heads.forEach((head, column) => {
    if (!head.dataset.kind) return;
    const button = document.createElement("button");
    button.type = "button";
    button.append(...head.childNodes);
    head.append(button);
    // What is large comes first in scores; ranks and texts go up.
    const first = titles[column] !== "#" && head.dataset.kind === "number" ? -1 : 1;
    button.addEventListener("click", () => {
      way = sorted === column ? -way : first;
      sorted = column;
      sort();
    });
  });

  // A spreadsheet would run a text that starts like a formula.
  const cell = (value) => {
    const text = /^\s*[=+@＝＋－＠-]|^[\t\r\n]/.test(value) && Number.isNaN(toNumber(value)) ? `'${value}` : `${value}`;
    return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  };
  const save = (name, columns, found) => {
    const lines = [columns.map(([title]) => title), ...found.map((each) => columns.map(([, value]) => value(each)))];
    const text = lines.map((line) => line.map(cell).join(",") + "\r\n").join("");
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob(["\ufeff", text], { type: "text/csv" }));
    link.download = name;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
  };
  const value = (column) => ({ values }) => (Number.isNaN(values[column]) ? "" : values[column]);
  const told = (side) => ({ reasons }) => reasons.filter((each) => each.side === side).map((each) => each.text).join("; ");
  const names = [...new Set([id, number])].map((column) => [titles[column], value(column)]);
  const reasons = [["reasons for", told("for")], ["reasons against", told("against")]];
  const cells = titles.map((title, column) => [title, value(column)]).filter((_, i) => i > score && heads[i].dataset.kind);
  get("download").addEventListener("click", () => {
    save("list.csv", [...names, ["score", value(score)], ["checked", mark], ...reasons, ...cells], chosen().shown);
  });
  get("checks").addEventListener("click", () => save("checked.csv", [...names, ["checked", mark]], rows.filter(mark)));
  get("copy").addEventListener("click", async (event) => {
    const { shown } = chosen();
    const text = shown.map((each) => each.values[id]).join("\n");
    try {
      await navigator.clipboard.writeText(text);
    } catch {
      const area = document.createElement("textarea");
      area.value = text;
      document.body.append(area);
      area.select();
      document.execCommand("copy");
      area.remove();
    }
    event.target.textContent = `Copied ${count(shown.length, "id")}`;
    setTimeout(() => { event.target.textContent = "Copy ids"; }, 2000);
  });

  // A mark can be taken back by a second click.
  body.addEventListener("pointerdown", (event) => {
    const input = event.target.closest(".check label")?.querySelector("input");
    if (input) input.dataset.was = input.checked ? "1" : "";
  });
  body.addEventListener("click", (event) => {
    if (event.target.type !== "radio") return;
    if (event.target.dataset.was) event.target.checked = false;
    event.target.dataset.was = "";
    keep();
    show();
  });
  filter.addEventListener("input", show);
  filter.addEventListener("keydown", (event) => {
    if (event.key !== "Escape") return;
    event.preventDefault();
    filter.value = "";
    show();
  });
  for (const select of [reason, checked, length]) select?.addEventListener("change", show);
  document.querySelector(".tools").hidden = false;
  show();
})();
