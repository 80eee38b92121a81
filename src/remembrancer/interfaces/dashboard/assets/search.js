// Answers as one types: the same page is asked for, and its results put in the place of these.
import { localise } from "./times.js";

const PAUSE_MS = 350;
const form = document.getElementById("search");
const field = form.querySelector("[data-search]");
let timer = 0;
let asking = null;

function address() {
  const fields = new URLSearchParams();
  for (const [name, value] of new FormData(form)) if (value !== "") fields.append(name, value);
  return `${form.getAttribute("action")}?${fields}`;
}

async function ask() {
  const results = document.getElementById("results");
  const wanted = address();
  asking?.abort();
  asking = new AbortController();
  results.setAttribute("aria-busy", "true");
  try {
    const answer = await fetch(wanted, { signal: asking.signal, headers: { Accept: "text/html" } });
    if (!answer.ok || answer.redirected) throw new Error(String(answer.status));
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    results.replaceWith(document.importNode(page.getElementById("results"), true));
    document.title = page.title;
    history.replaceState(null, "", wanted);
    localise(document.getElementById("results"));
  } catch (error) {
    // What went wrong is told by the page itself, when the form is sent.
    if (error.name !== "AbortError") results.setAttribute("aria-busy", "false");
  }
}

field.addEventListener("input", () => {
  clearTimeout(timer);
  if (field.value.trim().length > 1) timer = setTimeout(ask, PAUSE_MS);
});
form.addEventListener("submit", () => {
  clearTimeout(timer);
  asking?.abort();
});
