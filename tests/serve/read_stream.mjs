// The members of an event stream as the public client reads them: an object on each line.
// With a name it goes on until it has read a version of that.
import { readFileSync } from "node:fs";
import { replicateLDES } from "ldes-client";

const { url, ordered, name } = JSON.parse(readFileSync(0, "utf8"));
const client = replicateLDES({ url, polling: name !== null, pollInterval: 100 }, ordered);
client.on("error", (error) => { throw error; });
for await (const { id, quads, timestamp, isVersionOf } of client.stream()) {
  const values = quads.map(({ predicate, object }) => [predicate.value, object.value]);
  console.log(JSON.stringify({ id: id.value, timestamp, isVersionOf, values }));
  if (isVersionOf === name) break;
}
process.exit(0);
