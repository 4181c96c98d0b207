/** What the doctor says about a healthy machine and about each thing that can be wrong. */
import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { chmod, mkdir, mkdtemp, rm, utimes, writeFile } from 'node:fs/promises'
import { createServer, type AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test, { type ExecutionContext } from 'ava'
import { loadConfig } from '#config/settings/load.ts'
import { loadCertificate } from '../../../daemon/process/certificate.ts'
import { examine, type Finding } from '../../../daemon/commands/doctor.ts'
import { column } from '../../support/column.ts'
import { listenIn } from '../../support/web/listen.ts'

const day = 24 * 3600 * 1000
const quiet = {
  POSTERN_HTTP_LISTEN: '127.0.0.1:0',
  POSTERN_SUBMISSION_LISTEN: '',
  POSTERN_SUBMISSIONS_LISTEN: '',
  POSTERN_MX_LISTEN: '',
  POSTERN_SMTP_HOST: 'mail.example.org',
  POSTERN_STORE_LOW_DISK_BYTES: '0',
  POSTERN_STORE_BALLAST_BYTES: '0',
}

/** A name server on loopback that answers every question with "no such name" (RFC 1035 §4.1.1). */
async function nameServer(t: ExecutionContext): Promise<string> {
  const socket = createSocket('udp4')
  t.teardown(() => socket.close())
  socket.on('message', (question, { port, address }) => {
    const answer = Buffer.from(question)
    answer[2] = 0x81
    answer[3] = 0x83
    socket.send(answer, port, address)
  })
  socket.bind(0, '127.0.0.1')
  await once(socket, 'listening')
  return `127.0.0.1:${socket.address().port}`
}

async function setUp(t: ExecutionContext) {
  const folder = await mkdtemp(join(tmpdir(), 'postern-doctor-'))
  t.teardown(() => rm(folder, { recursive: true, force: true }))
  const env = { ...quiet, POSTERN_DATA_DIR: folder, POSTERN_DNS_SERVERS: await nameServer(t) }
  const load = (more: Record<string, string> = {}) =>
    loadConfig({ env: { ...env, ...more }, readFile: () => Buffer.alloc(32).toString('hex') })
  return { folder, load }
}

const named = (findings: readonly Finding[], check: string): Finding | undefined => findings.find((finding) => finding.check === check)

test('examine() finds a fresh machine in order', async (t) => {
  const { load } = await setUp(t)
  const findings = await examine(load())
  t.deepEqual(
    findings.filter(({ ok }) => !ok),
    [],
  )
  t.deepEqual(column(findings, 'check'), ['node', 'data folder', 'master key', 'certificate', 'dns', 'clock'])
  for (const { detail } of findings) t.regex(detail, /\.$/)
})

test('examine() says who holds a port', async (t) => {
  const { load } = await setUp(t)
  const port = await listenIn(t, createServer())
  const finding = named(await examine(load({ POSTERN_HTTP_LISTEN: `127.0.0.1:${port}` })), `port ${port}`)
  t.false(finding?.ok)
  t.regex(
    finding?.detail ?? '',
    new RegExp(`^127\\.0\\.0\\.1:${port} \\(POSTERN_HTTP_LISTEN\\) is in use by (node \\(pid ${process.pid}\\)|another process);`),
  )
})

test('examine() frees the ports it tried', async (t) => {
  const { load } = await setUp(t)
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  const config = load({ POSTERN_HTTP_LISTEN: `127.0.0.1:${port}` })
  t.true(named(await examine(config), `port ${port}`)?.ok)
  t.true(named(await examine(config), `port ${port}`)?.ok)
})

test('examine() finds an address that is not of this machine', async (t) => {
  const { load } = await setUp(t)
  const finding = named(await examine(load({ POSTERN_HTTP_LISTEN: '192.0.2.1:2526' })), 'port 2526')
  t.deepEqual(finding, {
    check: 'port 2526',
    ok: false,
    detail: '192.0.2.1:2526 (POSTERN_HTTP_LISTEN) cannot be used (EADDRNOTAVAIL); set an address of this machine.',
  })
})

test('examine() finds a master key that others can read', async (t) => {
  const { folder, load } = await setUp(t)
  const path = join(folder, 'own.key')
  await writeFile(path, 'x', { mode: 0o600 })
  const config = load({ POSTERN_MASTER_KEY_FILE: path })
  t.true(named(await examine(config), 'master key')?.ok)
  await chmod(path, 0o640)
  t.deepEqual(named(await examine(config), 'master key'), {
    check: 'master key',
    ok: false,
    detail: `${path} can be read by others; run chmod 600 ${path}.`,
  })
})

test('examine() looks at the addresses for mail from other servers', async (t) => {
  const { load } = await setUp(t)
  const port = await listenIn(t, createServer())
  const finding = named(await examine(load({ POSTERN_MX_LISTEN: `127.0.0.1:${port}` })), `port ${port}`)
  t.regex(finding?.detail ?? '', /\(POSTERN_MX_LISTEN\) is in use by /)
})

test('examine() finds that the master key of stored data is missing', async (t) => {
  const { folder, load } = await setUp(t)
  await mkdir(join(folder, 'store'))
  const finding = named(await examine(load()), 'master key')
  t.false(finding?.ok)
  t.regex(finding?.detail ?? '', /master\.key is missing, but .* holds data written with it; restore the file or set POSTERN_MASTER_KEY\.$/)
})

test('examine() finds a folder that cannot be written, and too little room', async (t) => {
  const { folder, load } = await setUp(t)
  const file = join(folder, 'file')
  await writeFile(file, '')
  const blocked = named(await examine(load({ POSTERN_DATA_DIR: join(file, 'data') })), 'data folder')
  t.regex(blocked?.detail ?? '', /is not a folder, or lies in something that is none \(ENOTDIR\);/)
  t.false(blocked?.ok)
  const small = named(await examine(load({ POSTERN_STORE_LOW_DISK_BYTES: String(2 ** 50) })), 'data folder')
  t.false(small?.ok)
  t.regex(small?.detail ?? '', /make room for at least 1073741824 MiB\.$/)
})

test('examine() tells about the certificate', async (t) => {
  const { load } = await setUp(t)
  await loadCertificate(load(), Date.now())
  t.regex(
    named(await examine(load()), 'certificate')?.detail ?? '',
    /^The certificate is valid for mail\.example\.org and 39\d days; it is self-signed\.$/,
  )
  const other = named(await examine(load({ POSTERN_SMTP_HOST: 'other.example.org' })), 'certificate')
  t.false(other?.ok)
  const missing = named(await examine(load({ POSTERN_TLS_CERT: '/nowhere.pem', POSTERN_TLS_KEY: '/nowhere.key' })), 'certificate')
  t.regex(missing?.detail ?? '', /^POSTERN_TLS_CERT: /)
})

test('examine() finds an expired certificate', async (t) => {
  const { load } = await setUp(t)
  const { expires } = await loadCertificate(load(), Date.now() - 400 * day)
  t.deepEqual(named(await examine(load()), 'certificate'), {
    check: 'certificate',
    ok: false,
    detail: `The certificate expired at ${expires.toISOString()}; renew it.`,
  })
})

test('examine() finds a name server that does not answer', async (t) => {
  const { load } = await setUp(t)
  const closed = createSocket('udp4')
  closed.bind(0, '127.0.0.1')
  await once(closed, 'listening')
  const { port } = closed.address()
  closed.close()
  await once(closed, 'close')
  const finding = named(await examine(load({ POSTERN_DNS_SERVERS: `127.0.0.1:${port}` })), 'dns')
  t.false(finding?.ok)
  t.regex(finding?.detail ?? '', /does not answer \((ECONNREFUSED|ETIMEOUT)\)/)
})

test('examine() finds a clock that stands behind the data', async (t) => {
  const { folder, load } = await setUp(t)
  const later = new Date(Date.now() + 3 * day)
  await utimes(folder, later, later)
  t.deepEqual(named(await examine(load()), 'clock'), {
    check: 'clock',
    ok: false,
    detail: 'The clock is behind the data by more than a day; set it before the start.',
  })
})
