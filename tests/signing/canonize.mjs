// Of each document of a list, the canonical N-Quads, "" for one that says what is in no quad, and
// null for one that is not valid JSON-LD.
import {readFileSync} from 'node:fs';
import integrity from '@digitalbazaar/data-integrity-context';
import {cryptosuite} from '@digitalbazaar/eddsa-rdfc-2022-cryptosuite';

async function documentLoader(url) {
  const document = integrity.contexts.get(url);
  if(document === undefined) {
    throw new Error(`${url} is not loaded.`);
  }
  return {contextUrl: null, documentUrl: url, document};
}

// What is wrong with a context of which no value depends.
const HARMLESS = new Set(['relative @vocab reference', 'invalid @language value']);

const canonized = [];
for(const document of JSON.parse(readFileSync(0, 'utf-8'))) {
  canonized.push(await cryptosuite.canonize(document, {documentLoader}).catch(
    ({name, details}) =>
      name !== 'jsonld.ValidationError' || HARMLESS.has(details.event.code) ? null : ''));
}
console.log(JSON.stringify(canonized));
