/** Loads the TLS certificate: the operator's files, the ordered certificate, or a self-signed one in the data folder. */
import { createPrivateKey, X509Certificate, type KeyObject } from 'node:crypto'
import { mkdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createSecureContext } from 'node:tls'
import { ConfigInvalid, type Config } from '#config/settings/load.ts'
import { placeWhole } from '../backup/whole-file.ts'
import { OrderFiles } from './acme/ordered-files.ts'
import { makeSelfSigned } from './self-signed.ts'
import { signsFor } from './signs-for.ts'

/** A certificate with its key, both in PEM. */
export interface Certificate {
  /** The certificate, followed by its chain if any. */
  readonly cert: string
  readonly key: string
  readonly selfSigned: boolean
  readonly begins: Date
  readonly expires: Date
}

const day = 24 * 3600 * 1000
const renewBefore = 7 * day
const lifetime = 397 * day

const selfSignedFolder = (config: Config): string => join(config.dataDir, 'tls')

/** Whether Postern creates the certificate itself, because neither files nor an order are configured. */
export const isSelfMade = ({ tls, acme }: Config): boolean => tls.certificateFile === null && acme.challenge === 'off'

/**
 * Returns the configured certificate, the ordered one, or a self-signed one. Creates a self-signed certificate if it is missing, damaged,
 * within seven days of its expiry, or for another host. Throws `ConfigInvalid` if configured files are not usable.
 */
export async function loadCertificate(config: Config, now: number): Promise<Certificate> {
  const present = await readCertificate(config)
  if (present && (!present.selfSigned || config.tls.certificateFile !== null || isFresh(present, config.smtpHost, now))) return present
  const made = makeFor(config.smtpHost, now)
  await keep(selfSignedFolder(config), made)
  return made
}

/** Returns the current certificate without creating one; undefined if the next start will create a self-signed one. */
export async function readCertificate(config: Config): Promise<Certificate | undefined> {
  const { certificateFile, keyFile } = config.tls
  if (certificateFile !== null && keyFile !== null) return readConfigured(certificateFile, keyFile)
  const ordered = config.acme.challenge === 'off' ? undefined : await new OrderFiles(config.dataDir).certificate()
  return (ordered && usable(ordered.cert, ordered.key)) ?? readSelfSigned(selfSignedFolder(config))
}

/** Whether clients that verify this host name accept the certificate (RFC 6125 §6.4). */
export function covers({ cert }: Pick<Certificate, 'cert'>, host: string): boolean {
  return new X509Certificate(cert).checkHost(host) !== undefined
}

/** Parses PEM texts. Returns undefined if they are damaged or do not match. */
export function usable(cert: string, key: string): Certificate | undefined {
  const [parsed, ...chain] = attempt(() => certificatesIn(cert)) ?? []
  const privateKey: KeyObject | undefined = attempt(() => createPrivateKey(key))
  if (!parsed || !privateKey || !parsed.checkPrivateKey(privateKey) || !signsFor(privateKey, parsed.publicKey)) return undefined
  return areSignedInTurn([parsed, ...chain]) ? describe(cert, key, parsed) : undefined
}

const certificatesIn = (pem: string): X509Certificate[] =>
  (pem.match(/-----BEGIN CERTIFICATE-----[^]*?-----END CERTIFICATE-----/g) ?? []).map((one) => new X509Certificate(one))

/** Whether each certificate is signed by the next, as authorities send them (RFC 8555 §9.1). A flipped bit breaks a signature. */
const areSignedInTurn = (chain: readonly X509Certificate[]): boolean =>
  chain.every((one, i) => {
    const issuer = chain[i + 1]
    return !issuer || attempt(() => one.verify(issuer.publicKey)) === true
  })

async function readConfigured(certificateFile: string, keyFile: string): Promise<Certificate> {
  const cert = await readPem('POSTERN_TLS_CERT', certificateFile)
  const key = await readPem('POSTERN_TLS_KEY', keyFile)
  const parsed = attempt(() => new X509Certificate(cert))
  if (!parsed)
    throw new ConfigInvalid([`POSTERN_TLS_CERT: ${certificateFile} must contain a certificate in PEM form, followed by its chain.`])
  const privateKey = attempt(() => createPrivateKey(key))
  if (!privateKey) throw new ConfigInvalid([`POSTERN_TLS_KEY: ${keyFile} must contain a private key in PEM form, without a passphrase.`])
  if (!parsed.checkPrivateKey(privateKey))
    throw new ConfigInvalid([
      `POSTERN_TLS_KEY: ${keyFile} is not the key of the certificate in ${certificateFile}; give the key it was issued for.`,
    ])
  if (!signsFor(privateKey, parsed.publicKey))
    throw new ConfigInvalid([
      `POSTERN_TLS_KEY: ${keyFile} is damaged: its signatures do not fit the certificate in ${certificateFile}. Copy the key again from its source.`,
    ])
  if (attempt(() => createSecureContext({ cert, key }))) return describe(cert, key, parsed)
  throw new ConfigInvalid([
    `POSTERN_TLS_CERT: ${certificateFile} cannot be used for TLS; its chain must be whole, and its keys at least RSA 2048 or P-256.`,
  ])
}

async function readPem(variable: string, path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8')
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown error'
    throw new ConfigInvalid([`${variable}: ${path} cannot be read (${code}); check the path and its permissions.`])
  }
}

/** Returns undefined if there is no certificate or it is damaged, for example by a crash between writing its two files. */
async function readSelfSigned(folder: string): Promise<Certificate | undefined> {
  const files = ['cert.pem', 'key.pem'].map((name) => readFile(join(folder, name), 'utf8').catch(() => ''))
  const [cert = '', key = ''] = await Promise.all(files)
  const found = usable(cert, key)
  return found?.selfSigned === true ? found : undefined
}

const isFresh = (certificate: Certificate, host: string, now: number): boolean =>
  certificate.expires.getTime() - now > renewBefore && covers(certificate, host)

function makeFor(host: string, now: number): Certificate {
  const { cert, key } = makeSelfSigned({
    names: [...new Set([host, 'localhost'])],
    ipv4Addresses: ['127.0.0.1'],
    // One day back, for clients whose clock is slow.
    notBefore: now - day,
    notAfter: now + lifetime,
  })
  return describe(cert, key, new X509Certificate(cert))
}

/** Writes the key first, because the next start detects a certificate without its key. */
async function keep(folder: string, { cert, key }: Certificate): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o700 })
  await placeWhole(join(folder, 'key.pem'), [Buffer.from(key)])
  await placeWhole(join(folder, 'cert.pem'), [Buffer.from(cert)])
}

function describe(cert: string, key: string, parsed: X509Certificate): Certificate {
  const selfSigned = parsed.issuer === parsed.subject && parsed.verify(parsed.publicKey)
  return { cert, key, selfSigned, begins: parsed.validFromDate, expires: parsed.validToDate }
}

function attempt<T>(work: () => T): T | undefined {
  try {
    return work()
  } catch {
    return undefined
  }
}
