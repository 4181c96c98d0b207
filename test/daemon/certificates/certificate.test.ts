/** Certificates: created at the first start, kept, renewed, or supplied by the operator; and accepted by a real TLS client. */
import { createPrivateKey, generateKeyPairSync, sign, verify, X509Certificate } from 'node:crypto'
import { once } from 'node:events'
import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { connect, createServer } from 'node:tls'
import test, { type ExecutionContext } from '#test'
import { ConfigInvalid, loadConfig } from '#config/settings/load.ts'
import { loadCertificate, readCertificate, usable } from '../../../daemon/certificates/certificate.ts'
import { makeSelfSigned } from '../../../daemon/certificates/self-signed.ts'
import { signsFor } from '../../../daemon/certificates/signs-for.ts'
import { authority, goodCertificate } from '../../protocols/relay/certificates.ts'
import { listenIn } from '../../support/web/listen.ts'
import { machineTime } from '../../support/fake-clock.ts'
import { damagedKey } from './damaged-key.ts'

const day = 24 * 3600 * 1000
const now = machineTime()

async function folderFor(t: ExecutionContext): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'postern-tls-'))
  t.teardown(() => rm(folder, { recursive: true }))
  return folder
}

const configFor = (dataDir: string, more: Record<string, string> = {}) =>
  loadConfig({ env: { POSTERN_DATA_DIR: dataDir, POSTERN_SMTP_HOST: 'mail.example.org', ...more }, readFile: () => '' })

async function refusal(work: Promise<unknown>): Promise<string> {
  return work.then(
    () => 'nothing was refused',
    (error: unknown) => (error instanceof ConfigInvalid ? error.message : String(error)),
  )
}

test('loadCertificate(): creates a certificate that a verifying TLS client accepts', async (t) => {
  const dataDir = await folderFor(t)
  const { cert, key, selfSigned, expires } = await loadCertificate(configFor(dataDir), now)
  t.true(selfSigned)
  t.true(expires.getTime() > now + 365 * day)
  const server = createServer({ cert, key, minVersion: 'TLSv1.2' }, (socket) => socket.end())
  const port = await listenIn(t, server)
  for (const servername of ['mail.example.org', 'localhost']) {
    const client = connect({ host: '127.0.0.1', port, ca: cert, servername })
    await once(client, 'secureConnect')
    t.true(client.authorized, servername)
    client.destroy()
  }
  const outsider = connect({ host: '127.0.0.1', port, ca: cert, servername: 'other.example.org' })
  const [error] = (await once(outsider, 'error')) as [NodeJS.ErrnoException]
  t.is(error.code, 'ERR_TLS_CERT_ALTNAME_INVALID')
  t.is(new X509Certificate(cert).checkIP('127.0.0.1'), '127.0.0.1')
})

test('loadCertificate(): stores its certificate for its owner only', async (t) => {
  const dataDir = await folderFor(t)
  const config = configFor(dataDir)
  t.is(await readCertificate(config), undefined)
  const first = await loadCertificate(config, now)
  t.deepEqual(await loadCertificate(config, now + 300 * day), first)
  const folder = join(dataDir, 'tls')
  t.deepEqual((await readdir(folder)).toSorted(), ['cert.pem', 'key.pem'])
  t.is((await stat(join(folder, 'key.pem'))).mode & 0o777, 0o600)
  t.is((await stat(folder)).mode & 0o777, 0o700)
})

test('loadCertificate(): replaces an expiring, damaged or mismatched certificate', async (t) => {
  const dataDir = await folderFor(t)
  const config = configFor(dataDir)
  const path = join(dataDir, 'tls', 'key.pem')
  const first = await loadCertificate(config, now)
  t.is((await loadCertificate(config, first.expires.getTime() - 8 * day)).cert, first.cert)
  const second = await loadCertificate(config, first.expires.getTime() - 7 * day)
  t.not(second.cert, first.cert)
  const third = await loadCertificate(configFor(dataDir, { POSTERN_SMTP_HOST: 'new.example.org' }), now)
  t.is(new X509Certificate(third.cert).checkHost('new.example.org'), 'new.example.org')
  await writeFile(path, first.key)
  const fourth = await loadCertificate(configFor(dataDir, { POSTERN_SMTP_HOST: 'new.example.org' }), now)
  t.not(fourth.cert, third.cert)
  await writeFile(path, 'damaged')
  t.not((await loadCertificate(config, now)).cert, fourth.cert)
  t.regex(await readFile(path, 'utf8'), /BEGIN PRIVATE KEY/)
})

test('loadCertificate(): replaces its certificate after a flipped bit', async (t) => {
  const dataDir = await folderFor(t)
  const config = configFor(dataDir)
  const { cert } = await loadCertificate(config, now)
  const path = join(dataDir, 'tls', 'cert.pem')
  const key = await readFile(join(dataDir, 'tls', 'key.pem'))
  const whole = Buffer.from(cert)
  for (let at = 0; at < whole.length; at += 13) {
    const changed = Buffer.from(whole)
    changed[at] = (changed[at] ?? 0) ^ 1
    await writeFile(path, changed)
    await writeFile(join(dataDir, 'tls', 'key.pem'), key)
    const { selfSigned, cert: served } = await loadCertificate(config, now)
    t.true(selfSigned, `octet ${at}`)
    if (served === changed.toString()) t.deepEqual(new X509Certificate(served).raw, new X509Certificate(cert).raw, `octet ${at}`)
  }
})

test('loadCertificate(): replaces a private key with a flipped bit', async (t) => {
  const dataDir = await folderFor(t)
  const config = configFor(dataDir)
  const path = join(dataDir, 'tls', 'key.pem')
  let { key } = await loadCertificate(config, now)
  for (const nth of Array.from({ length: 10 }).keys()) {
    const damaged = damagedKey(key, nth)
    await writeFile(path, damaged)
    const served = await loadCertificate(config, now)
    t.not(served.key, damaged)
    const signature = sign('sha256', Buffer.from('x'), served.key)
    t.true(verify('sha256', Buffer.from('x'), new X509Certificate(served.cert).publicKey, signature))
    t.is(await readFile(path, 'utf8'), served.key)
    key = served.key
  }
})

test('signsFor(): accepts keys of all kinds, and no other private key', (t) => {
  const { cert, key } = makeSelfSigned({ names: ['a.example'], ipv4Addresses: [], notBefore: now, notAfter: now + day })
  t.truthy(usable(cert, key))
  t.is(usable(cert, damagedKey(key)), undefined)
  for (const pair of [
    generateKeyPairSync('rsa', { modulusLength: 2048 }),
    generateKeyPairSync('rsa-pss', { modulusLength: 2048, hashAlgorithm: 'sha512', mgf1HashAlgorithm: 'sha512' }),
    generateKeyPairSync('ec', { namedCurve: 'P-521' }),
    generateKeyPairSync('ed25519'),
  ]) {
    const { publicKey, privateKey } = pair
    t.true(signsFor(privateKey, publicKey), privateKey.asymmetricKeyType)
    t.false(signsFor(createPrivateKey(key), publicKey), privateKey.asymmetricKeyType)
  }
})

test('usable(): refuses a certificate with a flipped bit, by its chain', (t) => {
  const { cert, key } = goodCertificate
  const chain = `${cert.trim()}\n${authority}`
  t.truthy(usable(chain, key))
  t.truthy(usable(cert, key), 'without its chain')
  const whole = Buffer.from(chain)
  const leafEnd = chain.indexOf('-----END')
  for (let at = chain.indexOf('\n') + 1; at < leafEnd; at += 5) {
    const changed = Buffer.from(whole)
    changed[at] = (changed[at] ?? 0) ^ 1
    const found = usable(changed.toString('latin1'), key)
    if (found) t.deepEqual(new X509Certificate(found.cert).raw, new X509Certificate(cert).raw, `octet ${at}`)
  }
})

test("loadCertificate(): uses the operator's files unchanged", async (t) => {
  const folder = await folderFor(t)
  const { cert, key } = makeSelfSigned({ names: ['own.example.org'], ipv4Addresses: [], notBefore: now - 2 * day, notAfter: now - day })
  const [certFile, keyFile] = [join(folder, 'c.pem'), join(folder, 'k.pem')]
  await Promise.all([writeFile(certFile, cert), writeFile(keyFile, key)])
  const config = configFor(folder, { POSTERN_TLS_CERT: certFile, POSTERN_TLS_KEY: keyFile })
  const loaded = await loadCertificate(config, now)
  t.is(loaded.cert, cert, 'also when it has expired: the operator decides')
  t.is(loaded.key, key)
  t.false((await readdir(folder)).includes('tls'))
})

test('loadCertificate(): refuses unusable files and names the setting', async (t) => {
  const folder = await folderFor(t)
  const files = makeSelfSigned({ names: ['own.example.org'], ipv4Addresses: [], notBefore: now, notAfter: now + day })
  const outsider = String(generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey.export({ type: 'pkcs8', format: 'pem' }))
  const [certFile, keyFile] = [join(folder, 'c.pem'), join(folder, 'k.pem')]
  const config = configFor(folder, { POSTERN_TLS_CERT: certFile, POSTERN_TLS_KEY: keyFile })
  t.is(
    await refusal(loadCertificate(config, now)),
    `POSTERN_TLS_CERT: ${certFile} cannot be read (ENOENT); check the path and its permissions.`,
  )
  await writeFile(certFile, files.cert)
  t.regex(await refusal(loadCertificate(config, now)), /^POSTERN_TLS_KEY: .* cannot be read \(ENOENT\)/)
  await writeFile(keyFile, 'hush')
  t.is(
    await refusal(loadCertificate(config, now)),
    `POSTERN_TLS_KEY: ${keyFile} must contain a private key in PEM form, without a passphrase.`,
  )
  await writeFile(keyFile, outsider)
  t.regex(await refusal(loadCertificate(config, now)), /^POSTERN_TLS_KEY: .* is not the key of the certificate/)
  await writeFile(keyFile, damagedKey(files.key))
  t.is(
    await refusal(loadCertificate(config, now)),
    `POSTERN_TLS_KEY: ${keyFile} is damaged: its signatures do not fit the certificate in ${certFile}. Copy the key again from its source.`,
  )
  await writeFile(certFile, 'none')
  t.regex(await refusal(loadCertificate(config, now)), /^POSTERN_TLS_CERT: .* must contain a certificate/)
})

test('makeSelfSigned(): writes times before and after 2050 and names of any length', (t) => {
  const names = Array.from({ length: 20 }, (_, i) => `${'long-label'.repeat(6)}.${i}.example.org`)
  const { cert } = makeSelfSigned({
    names,
    ipv4Addresses: ['127.0.0.1', '192.0.2.1'],
    notBefore: Date.UTC(2049, 11, 31),
    notAfter: Date.UTC(2050, 0, 2),
  })
  const parsed = new X509Certificate(cert)
  t.is(parsed.validFromDate.toISOString(), '2049-12-31T00:00:00.000Z')
  t.is(parsed.validToDate.toISOString(), '2050-01-02T00:00:00.000Z')
  for (const name of names) t.is(parsed.checkHost(name), name)
  t.is(parsed.checkIP('192.0.2.1'), '192.0.2.1')
  t.true(parsed.verify(parsed.publicKey))
  t.false(parsed.ca)
})

test('makeSelfSigned() never repeats a serial number or a key', (t) => {
  const make = () => makeSelfSigned({ names: ['a'], ipv4Addresses: [], notBefore: now, notAfter: now + day })
  const [one, other] = [make(), make()]
  t.not(new X509Certificate(one.cert).serialNumber, new X509Certificate(other.cert).serialNumber)
  t.not(one.key, other.key)
})
