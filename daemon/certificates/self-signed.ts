/** Creates self-signed certificates: X.509 version 3 for TLS servers, with a P-256 or RSA key, in DER (RFC 5280 §4.1). */
import { generateKeyPair, generateKeyPairSync, randomBytes, sign, type KeyPairKeyObjectResult } from 'node:crypto'
import { promisify } from 'node:util'

/** Content of the certificate. Times are in milliseconds since the epoch. */
export interface SelfSignedSubject {
  /** The first name is also the common name. */
  readonly names: readonly string[]
  readonly ipv4Addresses: readonly string[]
  readonly notBefore: number
  readonly notAfter: number
}

const tags = {
  integer: 0x02,
  null: 0x05,
  bits: 0x03,
  octets: 0x04,
  oid: 0x06,
  utf8: 0x0c,
  utcTime: 0x17,
  generalizedTime: 0x18,
  sequence: 0x30,
  set: 0x31,
}
const version3 = 2
const serialBytes = 16
/** RFC 5280 §A.1, ub-common-name. */
const maxCommonName = 64
/** RFC 5280 §4.1.2.5 requires the longer form of times from this year. */
const generalizedTimeFrom = 2050

const oids = {
  commonName: [0x55, 0x04, 0x03],
  ecdsaWithSha256: [0x2a, 0x86, 0x48, 0xce, 0x3d, 0x04, 0x03, 0x02],
  sha256WithRsa: [0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x01, 0x0b],
  keyUsage: [0x55, 0x1d, 0x0f],
  subjectAltName: [0x55, 0x1d, 0x11],
  basicConstraints: [0x55, 0x1d, 0x13],
  extendedKeyUsage: [0x55, 0x1d, 0x25],
  serverAuth: [0x2b, 0x06, 0x01, 0x05, 0x05, 0x07, 0x03, 0x01],
}

/** Creates a certificate with a P-256 key, both in PEM. */
export function makeSelfSigned(subject: SelfSignedSubject): { cert: string; key: string } {
  return certificateOf(subject, generateKeyPairSync('ec', { namedCurve: 'P-256' }), sequence(oid(oids.ecdsaWithSha256)))
}

const rsaBits = 2048
const newKeyPair = promisify(generateKeyPair)

/** Creates a certificate with an RSA key. Key generation is slow. */
export async function makeSelfSignedRsa(subject: SelfSignedSubject): Promise<{ cert: string; key: string }> {
  return certificateOf(
    subject,
    await newKeyPair('rsa', { modulusLength: rsaBits }),
    sequence(oid(oids.sha256WithRsa), element(tags.null, Buffer.alloc(0))),
  )
}

function certificateOf(
  subject: SelfSignedSubject,
  { publicKey, privateKey }: KeyPairKeyObjectResult,
  algorithm: Buffer,
): { cert: string; key: string } {
  const name = distinguishedName(subject.names[0] ?? '')
  const unsigned = sequence(
    explicit(0, element(tags.integer, Buffer.of(version3))),
    element(tags.integer, serialNumber()),
    algorithm,
    name,
    sequence(time(subject.notBefore), time(subject.notAfter)),
    name,
    publicKey.export({ type: 'spki', format: 'der' }),
    explicit(3, extensions(subject)),
  )
  const certificate = sequence(unsigned, algorithm, bitString(sign('sha256', unsigned, privateKey)))
  return { cert: pem(certificate), key: String(privateKey.export({ type: 'pkcs8', format: 'pem' })) }
}

/** Returns the extensions (RFC 5280 §4.2.1): not an authority, signatures of handshakes only, server use, alternative names. */
function extensions({ names, ipv4Addresses }: SelfSignedSubject): Buffer {
  const digitalSignature = element(tags.bits, Buffer.of(7, 0x80))
  const alternatives = [
    ...names.map((name) => element(0x82, Buffer.from(name, 'ascii'))),
    ...ipv4Addresses.map((address) => element(0x87, Buffer.from(address.split('.').map(Number)))),
  ]
  return sequence(
    extension(oids.basicConstraints, true, sequence()),
    extension(oids.keyUsage, true, digitalSignature),
    extension(oids.extendedKeyUsage, false, sequence(oid(oids.serverAuth))),
    extension(oids.subjectAltName, false, sequence(...alternatives)),
  )
}

function extension(id: readonly number[], critical: boolean, value: Buffer): Buffer {
  const mark = critical ? [element(0x01, Buffer.of(0xff))] : []
  return sequence(oid(id), ...mark, element(tags.octets, value))
}

function distinguishedName(commonName: string): Buffer {
  const value = element(tags.utf8, Buffer.from(commonName.slice(0, maxCommonName)))
  return sequence(element(tags.set, sequence(oid(oids.commonName), value)))
}

/** Returns a positive random serial number (RFC 5280 §4.1.2.2). The fixed bits of the first byte keep the sign and the shortest form. */
function serialNumber(): Buffer {
  const bytes = randomBytes(serialBytes)
  bytes[0] = (bytes[0]! & 0x7f) | 0x40
  return bytes
}

function time(ms: number): Buffer {
  const digits = `${new Date(ms).toISOString().replaceAll(/[-:T]|\.\d+Z$/g, '')}Z`
  const long = Number(digits.slice(0, 4)) >= generalizedTimeFrom
  return element(long ? tags.generalizedTime : tags.utcTime, Buffer.from(long ? digits : digits.slice(2), 'ascii'))
}

const oid = (bytes: readonly number[]): Buffer => element(tags.oid, Buffer.from(bytes))
const sequence = (...parts: readonly Buffer[]): Buffer => element(tags.sequence, Buffer.concat(parts))
const explicit = (number: number, part: Buffer): Buffer => element(0xa0 | number, part)
const bitString = (bytes: Buffer): Buffer => element(tags.bits, Buffer.concat([Buffer.of(0), bytes]))

/** Encodes a tag, its length in the shortest form (X.690 §10.1), and its content. */
function element(tag: number, content: Buffer): Buffer {
  const { length } = content
  if (length < 0x80) return Buffer.concat([Buffer.of(tag, length), content])
  const head = length < 0x100 ? Buffer.of(tag, 0x81, length) : Buffer.of(tag, 0x82, length >> 8, length & 0xff)
  return Buffer.concat([head, content])
}

function pem(der: Buffer): string {
  const lines = der.toString('base64').match(/.{1,64}/g) ?? []
  return ['-----BEGIN CERTIFICATE-----', ...lines, '-----END CERTIFICATE-----', ''].join('\n')
}
