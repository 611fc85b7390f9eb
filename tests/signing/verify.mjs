// Of each document of a list, whether it verifies: [{verified, reasons}, ...].
// It loads the contexts of data integrity and did:key, and nothing else.
import {readFileSync} from 'node:fs';
import jsigs from 'jsonld-signatures';
import {DataIntegrityProof} from '@digitalbazaar/data-integrity';
import integrity from '@digitalbazaar/data-integrity-context';
import {cryptosuite} from '@digitalbazaar/eddsa-rdfc-2022-cryptosuite';

async function documentLoader(url) {
  const [did, key] = url.split('#');
  let document = integrity.contexts.get(url);
  if(did.startsWith('did:key:') && key === undefined) {
    const id = `${did}#${did.slice('did:key:'.length)}`;
    document = {'@context': 'https://www.w3.org/ns/did/v1', id: did, assertionMethod: [id]};
  } else if(did === `did:key:${key}`) {
    document = {
      '@context': 'https://w3id.org/security/multikey/v1',
      id: url, type: 'Multikey', controller: did, publicKeyMultibase: key
    };
  }
  if(document === undefined) {
    throw new Error(`${url} is not loaded.`);
  }
  return {contextUrl: null, documentUrl: url, document};
}

const suite = new DataIntegrityProof({cryptosuite});
const purpose = new jsigs.purposes.AssertionProofPurpose();
const results = [];
for(const document of JSON.parse(readFileSync(0, 'utf-8'))) {
  const {verified, error} = await jsigs.verify(document, {suite, purpose, documentLoader});
  results.push({verified, reasons: [error?.errors ?? error ?? []].flat().map(String)});
}
console.log(JSON.stringify(results));
