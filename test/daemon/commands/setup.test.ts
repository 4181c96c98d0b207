/** `postern setup`: questions, flags, the file, the records and the first mail, and a second run without changes. */
import { spawn } from 'node:child_process'
import { chmod, readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import test, { type ExecutionContext } from '#test'
import { zoneFile } from '../../../daemon/commands/setup/zone-file.ts'
import { Daemon } from '../../support/daemon/daemon.ts'
import { temporaryFolder } from '../../support/daemon/workspace.ts'
import { closedPort } from '../../support/network/held-port.ts'
import { Sink } from '../../support/smtp/sink.ts'
import { NameServer } from '../../support/web/name-server.ts'

const program = fileURLToPath(new URL('../../../daemon/postern.js', import.meta.url))

/** A machine with correct DNS names, except for one domain without records. */
async function machine(t: ExecutionContext, more: Readonly<Record<string, string>> = {}) {
  const folder = await temporaryFolder('setup')
  t.teardown(() => folder[Symbol.asyncDispose]())
  const records: Record<string, readonly string[]> = {
    '7.2.0.192.in-addr.arpa PTR': ['mail.example.com'],
    'mail.example.com A': ['192.0.2.7'],
  }
  const names = await NameServer.start(records)
  t.teardown(() => names[Symbol.asyncDispose]())
  const sink = await Sink.listen()
  t.teardown(() => sink[Symbol.asyncDispose]())
  const inherited = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('POSTERN_')))
  const env = {
    ...inherited,
    POSTERN_DATA_DIR: join(folder.path, 'data'),
    POSTERN_DNS_SERVERS: names.address,
    POSTERN_DOCTOR_ADDRESSES: '192.0.2.7',
    POSTERN_DOCTOR_BLOCKLISTS: '',
    POSTERN_DOCTOR_TIME_SERVERS: '',
    POSTERN_HTTP_LISTEN: '127.0.0.1:0',
    POSTERN_SUBMISSION_LISTEN: '127.0.0.1:0',
    POSTERN_SUBMISSIONS_LISTEN: '127.0.0.1:0',
    POSTERN_MX_LISTEN: '127.0.0.1:0',
    POSTERN_STORE_BALLAST_BYTES: '0',
  }
  const run = (answers: string, ...args: readonly string[]): Promise<{ code: number | null; output: string }> => {
    const child = spawn(process.execPath, [program, 'setup', ...args], {
      cwd: folder.path,
      env: { ...env, ...more },
      stdio: ['pipe', 'pipe', 'pipe'],
    })
    let output = ''
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (output += chunk.toString()))
    child.stdin.on('error', () => {}) // it may exit before it asks
    child.stdin.end(answers)
    return new Promise((resolve) => child.once('close', (code) => resolve({ code, output })))
  }
  return { folder: folder.path, records, outgoing: `127.0.0.1:${sink.port}`, run, env }
}

test('setup: answers give file, records and first mail; a second run changes nothing', async (t) => {
  const { folder, outgoing, run } = await machine(t)
  const answers = 'not a domain\nexample.com\nmail.example.com\nops@example.com\n\nno\n\nyes\n'
  const first = await run(answers, '--outgoing', outgoing)
  t.is(first.code, 0, first.output)
  t.regex(first.output, /The answer is invalid\. Try again\./)
  t.regex(first.output, /New file \.\/postern\.json:\n\n\+ smtpHost: "mail\.example\.com"\n/)
  t.regex(first.output, new RegExp(`^ok   outgoing ${outgoing}: the server responds\\.$`, 'm'))
  t.regex(first.output, /^ok   clock: /m)
  t.regex(first.output, /^\$ORIGIN example\.com\.$/m)
  t.regex(first.output, /^pst\S+\._domainkey +IN TXT +\( "v=DKIM1; k=rsa; p=[^"]+" "[^"]+" \)$/m)
  t.regex(first.output, /^_dmarc +IN TXT +"v=DMARC1; p=none"$/m)
  t.regex(first.output, /^mail +IN A +192\.0\.2\.7$/m)
  t.regex(first.output, /Ask your hosting provider to set the reverse DNS name \(PTR\) of 192\.0\.2\.7 to mail\.example\.com\./)
  t.regex(first.output, /The first mail was captured \(captured\.no_route\)/)
  const path = join(folder, 'postern.json')
  const start = /^- Start the daemon: (POSTERN_CONFIG=\S+) postern serve\./m.exec(first.output)
  t.is(start?.[1], `POSTERN_CONFIG=${path}`, 'a start reads only the named file')
  const written = await readFile(path, 'utf8')
  t.deepEqual(JSON.parse(written), {
    smtpHost: 'mail.example.com',
    operators: ['ops@example.com'],
    doctor: { mailTo: 'ops@example.com' },
  })

  // keeps unknown settings and permissions, and does not change correct settings
  await writeFile(path, JSON.stringify({ ...(JSON.parse(written) as object), signUp: 'closed' }))
  await chmod(path, 0o600)
  const before = await stat(path)
  const second = await run('', '--domain', 'example.com', '--config', path, '--outgoing', 'none', '--yes', '--zone', join(folder, 'zone'))
  t.is(second.code, 0, second.output)
  t.regex(second.output, /postern\.json is up to date\. Nothing was changed\./)
  t.regex(second.output, /The first mail was captured earlier/)
  t.is((await stat(path)).mtimeMs, before.mtimeMs)
  const zone = join(folder, 'zone')
  t.regex(await readFile(zone, 'utf8'), /^\$ORIGIN example\.com\.$/m)
  await writeFile(zone, 'mine')
  const again = ['--domain', 'example.com', '--config', path, '--outgoing', 'none', '--yes', '--zone', zone]
  const kept = await run('', ...again)
  t.is(kept.code, 1)
  t.is(kept.output, `${zone} already exists. Use another name for --zone, or --force to replace it.\n`)
  t.is(await readFile(zone, 'utf8'), 'mine')
  t.is((await run('', ...again, '--force')).code, 0)
  t.regex(await readFile(zone, 'utf8'), /^\$ORIGIN example\.com\.$/m)

  const third = await run(
    '',
    '--domain',
    'example.com',
    '--config',
    path,
    '--outgoing',
    'none',
    '--yes',
    '--spf',
    'include:_spf.provider.example',
  )
  t.regex(third.output, /\+ outbound\.spf: \["include:_spf\.provider\.example"\]/)
  t.regex(third.output, /^@ +IN TXT +"v=spf1 include:_spf\.provider\.example ~all"$/m)
  t.like(JSON.parse(await readFile(path, 'utf8')), { signUp: 'closed', outbound: { spf: ['include:_spf.provider.example'] } })
  t.is((await stat(path)).mode & 0o777, 0o600)
})

test('setup: uses a running daemon, reports problems, names flags without answers', async (t) => {
  const { folder, records, run, env } = await machine(t)
  const daemon = await Daemon.start({ folder, env: { POSTERN_DNS_SERVERS: env.POSTERN_DNS_SERVERS } })
  t.teardown(() => daemon[Symbol.asyncDispose]())
  records['7.2.0.192.in-addr.arpa PTR'] = ['other.example.net']
  const closed = await closedPort(t)
  const args = ['--domain', 'example.com', '--host', 'mail.example.com', '--outgoing', `127.0.0.1:${closed}`]
  const ran = await run('', ...args, '--yes')
  t.is(ran.code, 1, ran.output)
  t.regex(ran.output, /^BAD  address\.reverse_mismatch: /m)
  t.regex(ran.output, new RegExp(`^BAD  outgoing 127\\.0\\.0\\.1:${closed}: .* does not respond`, 'm'))
  t.regex(ran.output, /If the settings changed, restart the daemon/)
  const { data } = (await daemon.rest.must('GET', '/v1/traces')) as { data: readonly { readonly from: string; readonly outcome: string }[] }
  t.deepEqual(
    data.map(({ outcome }) => outcome),
    ['captured.no_route'],
  )

  const silent = await run('')
  t.deepEqual([silent.code, /Set --domain, or use --yes to accept every default/.test(silent.output)], [64, true], silent.output)
  const refused = await run('', ...args, '--public', 'perhaps')
  t.deepEqual(
    [refused.code, /--public must be yes or no; got "perhaps"\. Try postern setup --help\./.test(refused.output)],
    [64, true],
    refused.output,
  )
})

const outside = ['--domain', 'example.com', '--host', 'mail.example.com', '--outgoing', 'none', '--public', 'yes', '--yes']

test('setup: a public machine orders its certificate; a second run writes nothing', async (t) => {
  const { folder, run } = await machine(t)
  const undecided = await run('', ...outside, '--url', 'https://mail.example.com')
  t.deepEqual(
    [undecided.code, /^--certificate has no default\. Enter a value\. Try postern setup --help\.$/m.test(undecided.output)],
    [64, true],
    undecided.output,
  )
  const args = [...outside, '--url', 'https://mail.example.com', '--certificate', 'acme', '--email', 'ops@example.com']
  const first = await run('', ...args)
  t.regex(first.output, /^ok   certificate: There is no certificate yet; the first start orders one\.$/m)
  t.regex(first.output, /^BAD  POSTERN_SUBMISSION_LISTEN: the variable overrides the file with another value\. Remove the variable\.$/m)
  t.regex(first.output, /^- Make port 443 of mail\.example\.com reach this machine\. The daemon orders the certificate when it starts\.$/m)
  const written = await readFile(join(folder, 'postern.json'), 'utf8')
  t.like(JSON.parse(written), {
    acme: { challenge: 'tls-alpn-01', terms: 'agreed', email: 'ops@example.com' },
    http: { tlsListen: '0.0.0.0:443' },
    submission: { implicitTlsListen: ['0.0.0.0:465'] },
  })
  const second = await run('', ...outside, '--url', 'https://mail.example.com')
  t.regex(second.output, /postern\.json is up to date\. Nothing was changed\./)
  t.regex(second.output, /^BAD  POSTERN_MX_LISTEN: /m)
  t.is(await readFile(join(folder, 'postern.json'), 'utf8'), written)
})

test('setup: names missing values behind a proxy and with certificate files', async (t) => {
  const { folder, run } = await machine(t, { POSTERN_MX_LISTEN: '0.0.0.0:0' })
  const file = async () => JSON.parse(await readFile(join(folder, 'postern.json'), 'utf8')) as Record<string, unknown>
  const proxied = await run('', ...outside, '--url', 'https://mail.example.com', '--certificate', 'proxy')
  t.is(proxied.code, 1, proxied.output)
  t.regex(proxied.output, /^BAD  certificate: The certificate of the SMTP listeners will be self-signed: .*postern setup asks which\.$/m)
  t.regex(proxied.output, /^- Make the reverse proxy forward https:\/\/mail\.example\.com to http:\/\/127\.0\.0\.1:0, /m)
  t.like(await file(), { http: { trustProxy: ['127.0.0.1', '::1'] } })
  t.is((await file())['acme'], undefined)

  const paths = ['--certificate-file', 'missing.pem', '--key-file', 'key.pem']
  const unusable = await run('', ...outside, '--url', 'https://mail.example.com', '--certificate', 'files', ...paths)
  t.is(unusable.code, 1, unusable.output)
  t.regex(unusable.output, /^BAD  certificate: .*missing\.pem cannot be read/m)
  t.regex(unusable.output, /^\$ORIGIN example\.com\.$/m, 'the other steps run')
  t.like(await file(), {
    tls: { certificateFile: join(folder, 'missing.pem'), keyFile: join(folder, 'key.pem') },
    http: { tlsListen: '0.0.0.0:443' },
  })
})

test('zone file: splits long keys and comments out records of the provider', (t) => {
  const record = { type: 'TXT', verdict: null } as const
  const zone = zoneFile({
    ...{
      domain: 'example.com',
      host: 'mx.example.net',
      email: 'ops@example.com',
      addresses: ['2001:db8::1'],
      bounceDomain: 'b.example.com',
    },
    records: [
      { ...record, purpose: 'dkim', name: 's._domainkey.example.com', expected: `v=DKIM1; p=${'A'.repeat(400)}`, verdict: 'ok' },
      { ...record, purpose: 'spf', name: 'example.com', expected: 'v=spf1 include:<your provider> ~all' },
      { ...record, purpose: 'bounce_mx', type: 'MX', name: 'b.example.com', expected: '10 mx.example.net' },
    ],
  })
  t.regex(zone, /It is published\.\ns\._domainkey +IN TXT +\( "[^"]{255}" "A+" \)\n/)
  t.regex(zone, /^; @ +IN TXT +"v=spf1 include:<your provider> ~all"$/m)
  t.regex(zone, /^b +IN MX +10 mx\.example\.net\.$/m)
  t.regex(zone, /^_smtp\._tls\.b +IN TXT +"v=TLSRPTv1; rua=mailto:ops@example\.com"$/m)
  t.regex(zone, /^mx\.example\.net\. +IN AAAA +2001:db8::1$/m)
})
