/** A self-signed certificate for one test run, for `localhost` and 127.0.0.1. */
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { makeSelfSigned } from '../../../daemon/certificates/self-signed.ts'

/** Paths of PEM files. A client that trusts `ca` and nothing else accepts `cert` for `localhost` only. */
export interface CertificateFiles {
  readonly ca: string
  readonly cert: string
  readonly key: string
}

const hour = 3_600_000

/** Creates a certificate that is valid for two days. Needs no external program. */
export async function makeCertificates(folder: string): Promise<CertificateFiles> {
  const [notBefore, notAfter] = [Date.now() - hour, Date.now() + 48 * hour]
  const { cert, key } = makeSelfSigned({ names: ['localhost'], ipv4Addresses: ['127.0.0.1'], notBefore, notAfter })
  const files: CertificateFiles = { ca: join(folder, 'ca.pem'), cert: join(folder, 'leaf.pem'), key: join(folder, 'leaf.key') }
  await writeFile(files.ca, cert)
  await writeFile(files.cert, cert)
  await writeFile(files.key, key)
  return files
}
