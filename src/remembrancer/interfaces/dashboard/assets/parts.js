// What takes longer than a page may comes after it, one part at a time: the server has other visitors too.
import { localise } from "./times.js";

async function load(part) {
  const waiting = part.querySelector("[data-waiting]");
  try {
    const answer = await fetch(part.dataset.part, { headers: { Accept: "text/html" }, credentials: "same-origin" });
    if (!answer.ok || answer.redirected) throw new Error(String(answer.status));
    // A part is made by our own templates, which escape what is told in it.
    const made = document.createElement("template");
    made.innerHTML = await answer.text();
    part.replaceChildren(made.content);
    localise(part);
  } catch {
    waiting.textContent = "This could not be loaded. ";
    const again = document.createElement("button");
    again.type = "button";
    again.textContent = "Try again";
    again.addEventListener("click", () => {
      waiting.textContent = "Loading…";
      load(part);
    });
    waiting.append(again);
  }
}

for (const part of document.querySelectorAll("[data-part]")) await load(part);
