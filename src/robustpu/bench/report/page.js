// A card with the trials of the cell under the pointer or the focus. The page is whole without it.
"use strict";
(() => {
  const card = document.getElementById("card");
  const SVG = "http://www.w3.org/2000/svg";

  const add = (parent, name, attributes, text) => {
    const svg = parent.namespaceURI === SVG || name === "svg";
    const node = svg ? document.createElementNS(SVG, name) : document.createElement(name);
    for (const [key, value] of Object.entries(attributes || {})) node.setAttribute(key, value);
    if (text !== undefined) node.textContent = text;
    parent.append(node);
    return node;
  };
  const read = (text) => new Map((text || "").split(" ").filter(Boolean).map((pair) => pair.split(":").map(Number)));

  // Trials as dots; a line joins the two results of one trial.
  const draw = (ours, theirs, paper) => {
    const values = [...ours.values(), ...theirs.values(), ...(paper ? [paper[0]] : [])];
    const low = Math.min(...values), high = Math.max(...values), span = high - low || 1;
    const x = (value) => (10 + (value - low) / span * 280).toFixed(1);
    const svg = add(card, "svg", { viewBox: `0 0 300 ${theirs.size ? 68 : 40}` });
    if (paper) add(svg, "path", { class: "mean", d: `M${x(paper[0])} 2V${theirs.size ? 52 : 24}` });
    for (const [trial, value] of theirs) {
      if (ours.has(trial)) add(svg, "path", { class: "pair", d: `M${x(ours.get(trial))} 12L${x(value)} 42` });
    }
    for (const value of theirs.values()) add(svg, "circle", { class: "theirs", cx: x(value), cy: 42, r: 3.4 });
    for (const value of ours.values()) add(svg, "circle", { class: "ours", cx: x(value), cy: 12, r: 3.8 });
    const base = theirs.size ? 65 : 37;
    add(svg, "text", { x: 2, y: base }, low.toFixed(2));
    add(svg, "text", { x: 298, y: base, "text-anchor": "end" }, high.toFixed(2));
  };

  const wins = (ours, theirs) => {
    let better = 0, worse = 0;
    for (const [trial, value] of ours) {
      if (value < theirs.get(trial)) better += 1;
      if (value > theirs.get(trial)) worse += 1;
    }
    return `better in ${better}, worse in ${worse} of ${ours.size} trials`;
  };

  const fill = (cell) => {
    const table = cell.closest("table");
    const method = cell.parentNode.firstElementChild.textContent;
    const dataset = table.tHead.rows[0].cells[cell.cellIndex].textContent;
    const { trials, theirs, rival, p, paper, flaw } = cell.dataset;
    const ours = read(trials), other = read(theirs);
    const printed = paper && paper.split(" ").map(Number);
    card.replaceChildren();
    add(card, "h4", {}, `${method}, ${dataset}, π = ${cell.closest("tbody").dataset.prior}`);
    if (flaw) add(card, "p", {}, `† ${flaw}`);
    draw(ours, other, printed);
    if (rival) {
      add(card, "p", {}, `● ${method}   ○ ${rival}, joined by trial`);
      add(card, "p", {}, wins(ours, other) + (p ? `, p\u00a0${p.startsWith("<") ? p : "=\u00a0" + p}` : ""));
    } else {
      add(card, "p", {}, `● ${ours.size} trial${ours.size === 1 ? "" : "s"}`);
    }
    if (printed) add(card, "p", {}, `┆ the paper’s mean, ${printed[0].toFixed(2)} ± ${printed[1].toFixed(1)}`);
  };

  const show = (cell) => {
    fill(cell);
    card.hidden = false;
    const box = cell.getBoundingClientRect(), mine = card.getBoundingClientRect();
    const left = Math.min(Math.max(8, box.left + box.width / 2 - mine.width / 2), innerWidth - mine.width - 8);
    const below = box.bottom + mine.height + 10 < innerHeight;
    card.style.left = `${Math.max(8, left)}px`;
    card.style.top = `${below ? box.bottom + 6 : Math.max(8, box.top - mine.height - 6)}px`;
    cell.setAttribute("aria-describedby", "card");
  };
  const hide = () => { card.hidden = true; };

  // One stop of the tab key a table; the arrows move inside it.
  const steps = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] };
  for (const table of document.querySelectorAll(".figures")) {
    const rows = [...table.querySelectorAll("tbody tr:not(.prior)")].map((row) => [...row.querySelectorAll("td")]);
    const all = rows.flat();
    for (const cell of all) cell.tabIndex = cell === all[0] ? 0 : -1;
    const cellOf = (event) => event.target.closest("td[data-trials]");
    table.addEventListener("mouseover", (event) => (cellOf(event) ? show(cellOf(event)) : hide()));
    table.addEventListener("mouseleave", hide);
    table.addEventListener("focusin", (event) => (cellOf(event) ? show(cellOf(event)) : hide()));
    table.addEventListener("focusout", hide);
    table.addEventListener("keydown", (event) => {
      if (event.key === "Escape") hide();
      const step = steps[event.key];
      const row = rows.findIndex((cells) => cells.includes(event.target));
      if (!step || row < 0) return;
      const column = rows[row].indexOf(event.target);
      const next = (rows[row + step[0]] || [])[column + step[1]];
      if (!next) return;
      event.preventDefault();
      event.target.tabIndex = -1;
      next.tabIndex = 0;
      next.focus();
    });
  }
  addEventListener("scroll", hide, { passive: true });
  addEventListener("beforeprint", () => {
    for (const details of document.querySelectorAll("details")) details.open = true;
  });
})();
