// Signs documents with the key of a seed: {seed, documents}, of which the seed is 32 bytes in
// hexadecimal digits. The result is the list of the signed documents.
import {readFileSync} from 'node:fs';
import jsigs from 'jsonld-signatures';
import * as Ed25519Multikey from '@digitalbazaar/ed25519-multikey';
import {DataIntegrityProof} from '@digitalbazaar/data-integrity';
import integrity from '@digitalbazaar/data-integrity-context';
import {cryptosuite} from '@digitalbazaar/eddsa-rdfc-2022-cryptosuite';

async function documentLoader(url) {
  const document = integrity.contexts.get(url);
  if(document === undefined) {
    throw new Error(`${url} is not loaded.`);
  }
  return {contextUrl: null, documentUrl: url, document};
}

const {seed, documents} = JSON.parse(readFileSync(0, 'utf-8'));
const key = await Ed25519Multikey.generate({seed: Buffer.from(seed, 'hex')});
key.id = `did:key:${key.publicKeyMultibase}#${key.publicKeyMultibase}`;
const suite = new DataIntegrityProof({signer: key.signer(), cryptosuite});
const purpose = new jsigs.purposes.AssertionProofPurpose();
const signed = [];
for(const document of documents) {
  signed.push(await jsigs.sign(document, {suite, purpose, documentLoader}));
}
console.log(JSON.stringify(signed));
