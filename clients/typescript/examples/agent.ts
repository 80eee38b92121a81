import { Remembrancer, RemembrancerError } from "../src/index.js";

const memory = new Remembrancer({
  url: process.env["REMEMBRANCER_URL"],
  key: process.env["REMEMBRANCER_KEY"],
  scope: { agent: "travel", session: "monday" },
});

await memory.observe({ text: "I always take the aisle seat", role: "user" });
await memory.remember("Ana flies to Porto in June", { kind: "fact", tags: ["travel"] });

const answer = await memory.recall("Which seat do I take?", { limit: 3 });
for (const hit of answer.hits) console.log(hit.score.toFixed(2), hit.memory.text);

try {
  await memory.recall("Which seat do I take?", { limit: 0 });
} catch (error) {
  if (error instanceof RemembrancerError) console.log(error.code, error.argument, error.allowed);
}
