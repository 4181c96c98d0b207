/** Findings of the doctor for a healthy machine and for each possible problem. */
import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { chmod, mkdir, mkdtemp, rm, utimes, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test, { type ExecutionContext } from '#test'
import { loadConfig } from '#config/settings/load.ts'
import { loadCertificate } from '../../../daemon/certificates/certificate.ts'
import { examineMachine, type MachineCheck } from '../../../daemon/doctor/machine.ts'
import { column } from '../../support/column.ts'
import { closedPort, closedUdpPort } from '../../support/network/held-port.ts'
import { listenIn } from '../../support/web/listen.ts'
import { machineTime } from '../../support/fake-clock.ts'

const day = 24 * 3600 * 1000
const quiet = {
  POSTERN_HTTP_LISTEN: '127.0.0.1:0',
  POSTERN_DOCTOR_TIME_SERVERS: '',
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

/** A time server on loopback with a clock ahead of time (RFC 4330 §5). It sends a reply to another query before the right one. */
async function timeServer(t: ExecutionContext, aheadMs: number, stratum = 2): Promise<string> {
  const socket = createSocket('udp4')
  t.teardown(() => socket.close())
  socket.on('message', (question, { port, address }) => {
    const answer = Buffer.alloc(48)
    answer.writeUInt16BE(0x2400 + stratum)
    question.copy(answer, 24, 40)
    const seconds = (machineTime() + aheadMs) / 1000 + 2_208_988_800
    for (const at of [32, 40]) {
      answer.writeUInt32BE(Math.floor(seconds) % 2 ** 32, at)
      answer.writeUInt32BE(Math.floor((seconds % 1) * 2 ** 32), at + 4)
    }
    const foreign = Buffer.from(answer).fill(7, 24, 32).fill(0, 32)
    socket.send(foreign, port, address, () => socket.send(answer, port, address))
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

const named = (findings: readonly MachineCheck[], check: string): MachineCheck | undefined =>
  findings.find((finding) => finding.check === check)

test('examineMachine(): finds no problem on a new machine', async (t) => {
  const { load } = await setUp(t)
  const findings = await examineMachine(load())
  t.deepEqual(
    findings.filter(({ ok }) => !ok),
    [],
  )
  t.deepEqual(column(findings, 'check'), ['node', 'data folder', 'memory', 'master key', 'certificate', 'dns', 'clock'])
  for (const { summary } of findings) t.regex(summary, /\.$/)
})

test('examineMachine(): names the process that uses a port', async (t) => {
  const { load } = await setUp(t)
  const port = await listenIn(t, createServer())
  const finding = named(await examineMachine(load({ POSTERN_HTTP_LISTEN: `127.0.0.1:${port}` })), `port ${port}`)
  t.false(finding?.ok)
  t.regex(
    finding?.summary ?? '',
    new RegExp(
      `^127\\.0\\.0\\.1:${port} \\(POSTERN_HTTP_LISTEN\\) is in use by (node \\(pid ${process.pid}\\)|another process)\\. Stop it`,
    ),
  )
})

test('examineMachine() frees the ports it tried', async (t) => {
  const { load } = await setUp(t)
  const port = await closedPort(t)
  const config = load({ POSTERN_HTTP_LISTEN: `127.0.0.1:${port}` })
  t.true(named(await examineMachine(config), `port ${port}`)?.ok)
  t.true(named(await examineMachine(config), `port ${port}`)?.ok)
})

test('examineMachine() finds an address that is not of this machine', async (t) => {
  const { load } = await setUp(t)
  const finding = named(await examineMachine(load({ POSTERN_HTTP_LISTEN: '192.0.2.1:2526' })), 'port 2526')
  t.is(finding?.findings.length, 1)
  t.like(finding?.findings[0], {
    id: 'port.unavailable',
    severity: 'error',
    subject: '192.0.2.1:2526',
    title: 'Port not available',
    summary: '192.0.2.1:2526 (POSTERN_HTTP_LISTEN) cannot be used (EADDRNOTAVAIL).',
    fix: 'Set an address of this machine.',
  })
  const port = await closedPort(t)
  t.true(named(await examineMachine(load({ POSTERN_HTTP_LISTEN: `127.0.0.1:${port}` })), `port ${port}`)?.ok)
})

test('examineMachine() finds a master key that others can read', async (t) => {
  const { folder, load } = await setUp(t)
  const path = join(folder, 'own.key')
  await writeFile(path, 'x', { mode: 0o600 })
  const config = load({ POSTERN_MASTER_KEY_FILE: path })
  t.true(named(await examineMachine(config), 'master key')?.ok)
  await chmod(path, 0o640)
  t.like(named(await examineMachine(config), 'master key')?.findings[0], {
    id: 'master_key.exposed',
    summary: `${path} is readable by other users.`,
    fix: `Run chmod 600 ${path}.`,
  })
})

test('examineMachine(): checks the addresses for mail from other servers', async (t) => {
  const { load } = await setUp(t)
  const port = await listenIn(t, createServer())
  const finding = named(await examineMachine(load({ POSTERN_MX_LISTEN: `127.0.0.1:${port}` })), `port ${port}`)
  t.regex(finding?.summary ?? '', /\(POSTERN_MX_LISTEN\) is in use by /)
})

test('examineMachine() finds that the master key of stored data is missing', async (t) => {
  const { folder, load } = await setUp(t)
  await mkdir(join(folder, 'store'))
  const finding = named(await examineMachine(load()), 'master key')
  t.false(finding?.ok)
  t.regex(
    finding?.summary ?? '',
    /master\.key is missing, but .* holds data written with it\. Restore the file or set POSTERN_MASTER_KEY\.$/,
  )
})

test('examineMachine(): finds a read-only folder and too little disk space', async (t) => {
  const { folder, load } = await setUp(t)
  const file = join(folder, 'file')
  await writeFile(file, '')
  const blocked = named(await examineMachine(load({ POSTERN_DATA_DIR: join(file, 'data') })), 'data folder')
  t.regex(blocked?.summary ?? '', /is not a folder, or has a parent that is not one \(ENOTDIR\)\. Give it/)
  t.deepEqual([blocked?.ok, blocked?.findings.map(({ id }) => id)], [false, ['data.folder']])
  t.true(named(await examineMachine(load()), 'data folder')?.ok)
  const small = named(await examineMachine(load({ POSTERN_STORE_LOW_DISK_BYTES: String(2 ** 50) })), 'data folder')
  t.false(small?.ok)
  t.regex(small?.summary ?? '', /Make room for at least 1073741824 MiB on its file system: /)
})

test('examineMachine(): reports the certificate', async (t) => {
  const { load } = await setUp(t)
  await loadCertificate(load(), machineTime())
  t.regex(
    named(await examineMachine(load()), 'certificate')?.summary ?? '',
    /^The certificate is valid for mail\.example\.org and 39\d days; it is self-signed\.$/,
  )
  const other = named(await examineMachine(load({ POSTERN_SMTP_HOST: 'other.example.org' })), 'certificate')
  t.false(other?.ok)
  const missing = named(await examineMachine(load({ POSTERN_TLS_CERT: '/nowhere.pem', POSTERN_TLS_KEY: '/nowhere.key' })), 'certificate')
  t.regex(missing?.summary ?? '', /^POSTERN_TLS_CERT: /)
})

test('examineMachine() finds an expired certificate', async (t) => {
  const { load } = await setUp(t)
  const { expires } = await loadCertificate(load(), machineTime() - 400 * day)
  t.like(named(await examineMachine(load()), 'certificate')?.findings[0], {
    id: 'certificate.expired',
    severity: 'error',
    summary: `The certificate of the SMTP listeners expired at ${expires.toISOString()}.`,
  })
})

test('examineMachine() finds a name server that does not answer', async (t) => {
  const { load } = await setUp(t)
  const finding = named(await examineMachine(load({ POSTERN_DNS_SERVERS: `127.0.0.1:${await closedUdpPort(t)}` })), 'dns')
  t.false(finding?.ok)
  t.is(finding?.findings[0]?.id, 'dns.unreachable')
  t.true(named(await examineMachine(load()), 'dns')?.ok)
  t.regex(finding?.summary ?? '', /^No name server answers \(127\.0\.0\.1:\d+, (ECONNREFUSED|ETIMEOUT)\)/)
})

test('examineMachine(): finds a clock that is behind the data', async (t) => {
  const { folder, load } = await setUp(t)
  const later = new Date(machineTime() + 3 * day)
  await utimes(folder, later, later)
  const clock = named(await examineMachine(load()), 'clock')
  t.like(clock, { ok: false, summary: 'The clock is behind the data by more than a day. Correct it before the start.' })
  t.is(clock?.findings.length, 1)
  t.like(clock?.findings[0], {
    id: 'clock.wrong',
    severity: 'error',
    subject: '',
    title: 'Clock wrong',
    summary: 'The clock is behind the data by more than a day.',
    fix: 'Correct it before the start.',
  })
  const earlier = new Date(machineTime())
  await utimes(folder, earlier, earlier)
  t.true(named(await examineMachine(load()), 'clock')?.ok)
})

test('examineMachine(): compares the clock with synchronized servers, also after 2036', async (t) => {
  const { load } = await setUp(t)
  const clock = async (...servers: string[]) =>
    named(await examineMachine(load({ POSTERN_DOCTOR_TIME_SERVERS: servers.join(',') })), 'clock')
  const right = await clock(await timeServer(t, 0))
  t.deepEqual([right?.ok, right?.findings], [true, []])
  t.regex(right?.summary ?? '', /^The clock shows \S+ It differs from 127\.0\.0\.1 by \d+ ms\.$/)
  t.like((await clock(await timeServer(t, 90_000)))?.findings, [
    { id: 'clock.off', severity: 'warning', summary: 'The clock of the machine is 90 seconds behind, compared with 127.0.0.1.' },
  ])
  t.like((await clock(await timeServer(t, -90_000)))?.findings, [
    { summary: 'The clock of the machine is 90 seconds ahead, compared with 127.0.0.1.' },
  ])
  const after2036 = Date.UTC(2037, 0, 1) - machineTime()
  const later = (await clock(await timeServer(t, after2036)))?.findings[0]?.summary
  const seen = Number(/is (\d+) seconds behind/.exec(later ?? '')?.[1])
  t.true(Math.abs(seen - after2036 / 1000) < 60, later)
  const unsure = await clock(await timeServer(t, 90_000, 0), `127.0.0.1:${await closedUdpPort(t)}`)
  t.true(unsure?.ok)
  t.regex(unsure?.summary ?? '', /No time server answers, so the clock was not compared\.$/)
})
