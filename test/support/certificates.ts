/** A certificate authority of our own for one test run, and a server certificate for `localhost` and 127.0.0.1. */
import { execFile } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)

/** Paths of PEM files. A client that trusts `ca` and nothing else accepts `cert` for `localhost` only. */
export interface CertificateFiles {
  readonly ca: string
  readonly cert: string
  readonly key: string
}

const newKey = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes']

/** Makes both with the `openssl` command; they are valid for two days. */
export async function makeCertificates(folder: string): Promise<CertificateFiles> {
  const file = (name: string): string => join(folder, name)
  const extensions = 'subjectAltName=DNS:localhost,IP:127.0.0.1\nbasicConstraints=critical,CA:FALSE\nextendedKeyUsage=serverAuth\n'
  await writeFile(file('leaf.ext'), extensions)
  const openssl = (...args: readonly string[]): Promise<unknown> => run('openssl', args)
  await openssl('req', '-x509', ...newKey, '-days', '2', '-subj', '/CN=Proof CA', '-keyout', file('ca.key'), '-out', file('ca.pem'))
  await openssl('req', ...newKey, '-subj', '/CN=localhost', '-keyout', file('leaf.key'), '-out', file('leaf.csr'))
  const signer = ['-CA', file('ca.pem'), '-CAkey', file('ca.key'), '-CAcreateserial', '-extfile', file('leaf.ext')]
  await openssl('x509', '-req', '-in', file('leaf.csr'), ...signer, '-days', '2', '-out', file('leaf.pem'))
  return { ca: file('ca.pem'), cert: file('leaf.pem'), key: file('leaf.key') }
}
