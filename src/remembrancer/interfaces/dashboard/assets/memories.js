// Selecting memories in the table: all of a page, a range with Shift, the count, arrows and Escape. The form also works
// without this.
const form = document.querySelector("[data-selecting]");

if (form) {
  const all = form.querySelector("[data-select-all]");
  const count = form.querySelector("[data-selected-count]");
  const boxes = [...form.querySelectorAll('input[name="ids"]')];
  const actions = [...form.querySelectorAll('button[name="action"]:not(:disabled)')];
  let last = null;

  const show = () => {
    const chosen = boxes.filter((box) => box.checked).length;
    if (count) count.textContent = chosen ? `${chosen} selected` : "Select the memories to change.";
    all.checked = chosen === boxes.length;
    all.indeterminate = chosen > 0 && chosen < boxes.length;
    for (const action of actions) action.disabled = chosen === 0;
  };

  const setAll = (checked) => {
    for (const box of boxes) box.checked = checked;
    last = null;
    show();
  };

  all.hidden = false;
  all.addEventListener("change", () => setAll(all.checked));
  form.addEventListener("click", (event) => {
    const box = boxes.indexOf(event.target);
    if (box < 0) return;
    if (event.shiftKey && last !== null) {
      const [from, to] = [Math.min(last, box), Math.max(last, box)];
      for (const one of boxes.slice(from, to + 1)) one.checked = boxes[box].checked;
    }
    last = box;
    show();
  });
  form.addEventListener("change", show);
  form.addEventListener("keydown", (event) => {
    if (event.key === "Escape") return setAll(false);
    const box = boxes.indexOf(event.target);
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (box >= 0 && step && boxes[box + step]) {
      event.preventDefault();
      boxes[box + step].focus();
    } else if (event.key === "Enter" && event.target.matches('input[type="checkbox"]')) {
      event.preventDefault();
    }
  });
  addEventListener("pageshow", show); // a browser may restore the ticks of a page that was left
  show();
}
