/** `postern sendmail` instead of /usr/sbin/sendmail: called by PHP's `mail()` and by cron, with the daemon away, and refused. */
import { execFileSync, spawn, type SpawnOptions } from 'node:child_process'
import { chmod, chown, mkdir, open, readdir, readFile, stat, symlink, truncate, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import test, { type ExecutionContext } from '#test'
import { parseCommandLine } from '../../../daemon/commands/command-line.ts'
import { sendSpool } from '../../../daemon/commands/sendmail/hand-over.ts'
import { prepareLetter } from '../../../daemon/commands/sendmail/letter.ts'
import { setAside } from '../../../daemon/commands/sendmail/spool.ts'
import { readSendmailArguments } from '../../../daemon/commands/sendmail/sendmail-arguments.ts'
import { isFile, isSync, isWrite, readTrace } from '../../crash/system-calls.ts'
import { Daemon, programOf, type DaemonOptions } from '../../support/daemon/daemon.ts'
import { catchAllInbox } from '../../support/daemon/provision.ts'
import { testIf } from '../../support/peers/peers.ts'
import { reasonAgainst } from '../../support/peers/peer-packages.ts'
import { temporaryFolder } from '../../support/daemon/workspace.ts'

interface Ended {
  readonly code: number | null
  readonly output: string
}

/** Runs the command with the daemon's variables and an input. */
const run = (options: DaemonOptions, args: readonly string[], input = ''): Promise<Ended> =>
  runIn({ env: programOf(options).env }, args, input)

async function runIn(place: SpawnOptions, [command = '', ...args]: readonly string[], input = ''): Promise<Ended> {
  const child = spawn(command, args, { ...place, stdio: ['pipe', 'pipe', 'pipe'] })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (output += chunk.toString('utf8')))
  child.stdin.on('error', () => undefined) // it may exit before it reads all input
  child.stdin.end(input)
  return new Promise((resolve, reject) => child.once('error', reject).once('close', (code) => resolve({ code, output })))
}

const sendmail = (options: DaemonOptions, args: readonly string[], input?: string): Promise<Ended> =>
  run(options, [...programOf(options).args, 'sendmail', ...args], input)

const letter = (subject: string): string => `From: Shop <shop@site.test>\nTo: ann@inbox.test\nSubject: ${subject}\n\nHello\n`

async function captured(daemon: Daemon): Promise<Record<string, unknown>[]> {
  const found: Record<string, unknown>[] = []
  for await (const row of daemon.rest.rows(`/v1/inboxes/${await catchAllInbox(daemon.rest)}/messages`)) found.push(row)
  return found
}

const subjects = async (daemon: Daemon): Promise<string[]> => (await captured(daemon)).map(({ subject }) => String(subject)).toSorted()

async function rawOf(daemon: Daemon, subject: string): Promise<string> {
  const [row] = (await captured(daemon)).filter((one) => one['subject'] === subject)
  const response = await fetch(`http://${daemon.addresses.http}/v1/traces/${String(row?.['trace_id'])}/message/raw`, {
    headers: { authorization: `Bearer ${daemon.adminKey}` },
  })
  return response.text()
}

const waiting = (folder: string): Promise<string[]> => readdir(folder).catch(() => [])

test.serial('sendmail: mail of PHP, cron and scripts arrives once, even if spooled', async (t) => {
  if (reasonAgainst('php') !== undefined) return t.fail(reasonAgainst('php'))
  await using folder = await temporaryFolder('sendmail')
  const options = { folder: folder.path, env: { POSTERN_SENDMAIL_LOCAL_RECIPIENT: 'root@inbox.test' } }
  const spool = join(folder.path, 'data', 'spool')
  const php = (subject: string): Promise<Ended> => {
    const program = programOf(options).args.join(' ')
    const script = `exit(mail('ann@inbox.test', '${subject}', "Hello\\n.\\nWorld", "From: Shop <shop@site.test>\\r\\nBcc: eve@inbox.test") ? 0 : 9);`
    return run(options, ['php', '-d', `sendmail_path=${program} sendmail -t -i`, '-r', script])
  }
  await using first = await Daemon.start(options)
  t.deepEqual(await php('From PHP'), { code: 0, output: '' })
  const cron = 'From: "(Cron Daemon)" <root>\nTo: root\nSubject: Cron <root@host> /bin/backup\n\nOut of space\n.\nnever read\n'
  t.deepEqual(await sendmail(options, ['-FCronDaemon', '-oem', '-odi', '-f', 'cron@site.test', 'root'], cron), { code: 0, output: '' })
  const bare = await sendmail(options, ['-F', 'Zoë', '-f', 'web@site.test', '--', 'ann@inbox.test'], 'No header at all\n')
  t.deepEqual(bare, { code: 0, output: '' })
  t.deepEqual(await subjects(first), ['', 'Cron <root@host> /bin/backup', 'From PHP'])
  const raw = await rawOf(first, 'From PHP')
  t.true(raw.includes('\r\nHello\r\n.\r\nWorld\r\n'), raw)
  t.notRegex(raw, /eve@/)
  t.notRegex(await rawOf(first, 'Cron <root@host> /bin/backup'), /never read/)
  t.regex(await rawOf(first, ''), /^From: =\?utf-8\?B\?Wm\/DqyA|^From: =\?utf-8\?B\?Wm/m)
  const rows = await captured(first)
  t.deepEqual(rows.find((row) => row['subject'] === 'From PHP')?.['intended_to'], ['ann@inbox.test', 'eve@inbox.test'])
  t.deepEqual(rows.find((row) => String(row['subject']).startsWith('Cron'))?.['intended_to'], ['root@inbox.test'])
  await refusals(t, options)

  await first.kill() // its operator file remains
  t.deepEqual(await php('While away'), { code: 0, output: '' })
  t.deepEqual(await sendmail(options, ['-t'], letter('Refused later').replace('ann@inbox.test', `${'a'.repeat(70)}@inbox.test`)), {
    code: 0,
    output: '',
  })
  await writeFile(join(spool, '0-half.mail'), 'this is no message')
  t.is((await waiting(spool)).length, 3)
  const still = await sendmail(options, ['-q'])
  t.is(still.code, 75, still.output)

  await using second = await Daemon.start(options, first.adminKey)
  const settled = await sendmail(options, ['-q']) // the daemon may send the spool at the same time
  t.true(settled.code === 0 || settled.code === 69, settled.output)
  t.deepEqual(await sendmail(options, ['-q']), { code: 0, output: '' })
  t.deepEqual(await waiting(spool), ['failed'])
  t.is((await subjects(second)).filter((subject) => subject === 'While away').length, 1)
  const aside = await waiting(join(spool, 'failed'))
  t.is(aside.filter((name) => name.endsWith('.mail')).length, 2, aside.join(' '))
  const reasons = await Promise.all(
    aside.filter((name) => name.endsWith('.reason')).map((name) => readFile(join(spool, 'failed', name), 'utf8')),
  )
  t.regex(reasons.toSorted().join(''), /not a message of postern sendmail[^]*is not a mail address/)
})

async function refusals(t: ExecutionContext, options: DaemonOptions): Promise<void> {
  const refused = await sendmail(options, ['not-an-address@'], letter('x'))
  t.is(refused.code, 69, refused.output)
  t.like(await sendmail(options, ['-bs']), { code: 64 })
  t.like(await sendmail(options, []), { code: 64 })
  const wrongKey = { ...options, env: { POSTERN_SENDMAIL_KEY: 'svckey_wrong-and-long-enough' } }
  t.is((await sendmail(wrongKey, ['-t'], letter('x'))).code, 77)
  const dataDir = join(options.folder, 'stopped')
  await mkdir(join(dataDir, 'store'), { recursive: true })
  const nowhere = { folder: options.folder, dataDir, env: { POSTERN_SENDMAIL_SPOOL: '/proc/none/spool' } }
  const { code, output } = await sendmail(nowhere, ['-t'], letter('x'))
  t.is(code, 73, output)
  t.regex(output, /^No daemon runs on \S+\/stopped\. The message could not be stored in \/proc\/none\/spool/)
}

test('spool: two concurrent failures of a mail leave one copy with its reason', async (t) => {
  await using folder = await temporaryFolder('spool')
  await writeFile(join(folder.path, 'a.mail'), 'no message')
  await setAside(folder.path, 'a.mail', 'first')
  await setAside(folder.path, 'a.mail', 'second')
  await setAside(folder.path, 'b.mail', 'another process has sent it')
  t.deepEqual(await waiting(folder.path), ['failed'])
  t.deepEqual((await waiting(join(folder.path, 'failed'))).toSorted(), ['a.mail', 'a.mail.reason'])
})

test.serial('spool: mail and folder are on disk before the exit, also via a sendmail link', async (t) => {
  if (reasonAgainst('strace') !== undefined) return t.fail(reasonAgainst('strace'))
  await using folder = await temporaryFolder('sendmail-sync')
  const options = { folder: folder.path, env: { POSTERN_HTTP_LISTEN: '127.0.0.1:1' } }
  const [node = '', program = ''] = programOf(options).args
  for (const name of ['bin', 'data/store']) await mkdir(join(folder.path, name), { recursive: true })
  const link = join(folder.path, 'bin', 'sendmail')
  await symlink(program, link)
  const record = join(folder.path, 'calls')
  const tracer = [
    'strace',
    '-f',
    '-ttt',
    '-yy',
    '-s',
    '4000',
    '-e',
    'trace=fsync,fdatasync,write,pwrite64,pwritev,rename,exit_group',
    '-o',
    record,
  ]
  t.deepEqual(await run(options, [...tracer, node, link, '-t', '-i'], letter('mk-spooled')), { code: 0, output: '' })
  const calls = readTrace(await readFile(record, 'utf8'))
  const written = calls.findIndex((call) => isWrite(call) && isFile(call) && call.text.includes('mk-spooled'))
  const synced = calls.findIndex((call, i) => i > written && isSync(call) && call.file.includes('.tmp'))
  const renamed = calls.findIndex((call, i) => i > synced && call.name === 'rename' && call.text.includes('.mail'))
  const folderSynced = calls.findIndex((call, i) => i > renamed && isSync(call) && call.file.includes('/data/spool>'))
  t.true(written >= 0 && synced > written && renamed > synced && folderSynced > renamed, [written, synced, renamed, folderSynced].join(' '))
  t.is((await waiting(join(folder.path, 'data', 'spool'))).length, 1)
})

test('sendmail: without a configured daemon, explains the settings, stores nothing', async (t) => {
  await using folder = await temporaryFolder('sendmail-unknown')
  const cwd = join(folder.path, 'work')
  // any user could create this in the caller's folder
  await mkdir(join(cwd, 'data', 'store'), { recursive: true })
  await writeFile(join(cwd, 'data', 'operator.json'), JSON.stringify({ origin: 'http://127.0.0.1:1', token: 'x', pid: 1, listening: [] }))
  const before = await readdir(cwd, { recursive: true })
  const { args: program } = programOf({ folder: folder.path })
  const { PATH } = process.env
  const call = (env: NodeJS.ProcessEnv, ...args: string[]): Promise<Ended> =>
    runIn({ cwd, env: { PATH, ...env } }, [...program, 'sendmail', ...args], letter('Disk failure'))
  const key = 'svckey_of-nobody-and-long-enough'
  const unknown =
    /^No daemon is configured\. The message was not sent, and nothing was stored\. Set POSTERN_SENDMAIL_URL and POSTERN_SENDMAIL_KEY, or POSTERN_DATA_DIR to the absolute path /
  const away =
    /^The message was not sent, and nothing was stored: No daemon responds at http:\/\/127\.0\.0\.1:1: .*\. Set POSTERN_SENDMAIL_SPOOL /
  for (const [env, sentence, ...args] of [
    [{}, unknown, '-t'],
    [{}, /^No daemon is configured\. Set /, '-q'],
    [{ POSTERN_DATA_DIR: './data' }, unknown, '-t'],
    [{ POSTERN_DATA_DIR: join(folder.path, 'unused') }, unknown, '-t'],
    [{ POSTERN_SENDMAIL_URL: 'http://127.0.0.1:1' }, unknown, '-t'],
    [{ POSTERN_SENDMAIL_SPOOL: join(folder.path, 'spool') }, unknown, '-t'],
    [{ POSTERN_SENDMAIL_SPOOL: './spool' }, /^POSTERN_SENDMAIL_SPOOL must be the absolute path of a folder\.$/m, '-t'],
    [{ POSTERN_SENDMAIL_URL: 'http://127.0.0.1:1', POSTERN_SENDMAIL_KEY: key }, away, '-t'],
    [{ POSTERN_URL: 'http://127.0.0.1:1', POSTERN_API_KEY: key }, away, '-t'],
  ] as const) {
    const { code, output } = await call(env, ...args)
    t.is(code, 78, `${JSON.stringify(env)} ${output}`)
    t.regex(output, sentence)
  }
  t.deepEqual(await readdir(cwd, { recursive: true }), before, 'ledger: mail is stored where no daemon looks')
  t.deepEqual(await readdir(folder.path), ['work'], 'ledger: mail is stored where no daemon looks')
})

const asRoot = testIf(process.getuid?.() === 0, 'the rights of root')

asRoot('spool: the daemon can read mail of root and other users', async (t) => {
  await using folder = await temporaryFolder('sendmail-users')
  const [daemon, site, shared] = [2101, 2102, join(folder.path, 'shared')]
  await chmod(folder.path, 0o755)
  await mkdir(join(folder.path, 'data', 'store'), { recursive: true })
  await chown(join(folder.path, 'data'), daemon, daemon)
  const options = { folder: folder.path, env: { POSTERN_HTTP_LISTEN: '127.0.0.1:1' } }
  t.deepEqual(await sendmail(options, ['-t'], letter('from root')), { code: 0, output: '' })
  const spool = join(folder.path, 'data', 'spool')
  const [ofRoot = ''] = await waiting(spool)
  for (const path of [spool, join(spool, ofRoot)]) t.like(await stat(path), { uid: daemon, gid: daemon }, path)

  await mkdir(shared)
  await chown(shared, daemon, daemon)
  await chmod(shared, 0o3777) // as the guide creates it
  const env = {
    POSTERN_SENDMAIL_URL: 'http://127.0.0.1:1',
    POSTERN_SENDMAIL_KEY: 'svckey_of-a-site-and-long-enough',
    POSTERN_SENDMAIL_SPOOL: shared,
  }
  const line = `umask 077; exec ${programOf(options).args.join(' ')} sendmail -t`
  const ofSite = await runIn(
    { cwd: '/', uid: site, gid: site, env: { PATH: process.env['PATH'], ...env } },
    ['sh', '-c', line],
    letter('from a site'),
  )
  t.deepEqual(ofSite, { code: 0, output: '' })
  const [name = ''] = await waiting(shared)
  const { uid, gid, mode } = await stat(join(shared, name))
  t.deepEqual([uid, gid, mode & 0o777], [site, daemon, 0o640])
})

test('spool: links, pipes and large files move to failed; the others are sent', async (t) => {
  await using folder = await temporaryFolder('spool-hostile')
  await writeFile(join(folder.path, 'secret'), `${JSON.stringify({ id: 'a', from: '', to: ['a@b.test'], by: 'own' })}\nSecret\n`)
  await symlink(join(folder.path, 'secret'), join(folder.path, '1.mail'))
  execFileSync('/usr/bin/mkfifo', [join(folder.path, '2.mail')])
  await (await open(join(folder.path, '3.mail'), 'w')).close()
  await truncate(join(folder.path, '3.mail'), 2 ** 40)
  const receiver = { origin: 'http://127.0.0.1:1', token: 'x', by: 'own' }
  const { refused, left } = await sendSpool(folder.path, receiver)
  t.deepEqual([refused.length, left], [3, 0])
  t.deepEqual((await waiting(folder.path)).toSorted(), ['failed', 'secret'])
})

test('sendmail options: parsed like getopt', (t) => {
  const read = (...args: string[]) => readSendmailArguments(args)
  t.like(read('-ti', '-fa@b.test'), { readsRecipients: true, dotEnds: false, from: 'a@b.test', recipients: [] })
  t.like(read('-r', '<a@b.test>', '-F', 'A B', '-oMrsmtp', '-oi', 'c@d.test', '--', '-x'), {
    from: 'a@b.test',
    fullName: 'A B',
    dotEnds: false,
    recipients: ['c@d.test', '-x'],
  })
  t.like(read('-f', '<>'), { from: '' })
  t.like(read('-q'), { mode: 'spool' })
  for (const refused of ['-bs', '-bd', '-bp', '-q30m', '-f', '-Z']) t.true('wrong' in read(refused), refused)
  t.deepEqual(parseCommandLine(['sendmail', '-t', '--', 'serve']), { name: 'sendmail', args: ['-t', '--', 'serve'] })
})

test('sendmail: messages get line ends, a sender and recipients without guesses', (t) => {
  const around = { user: 'www', hostname: 'host.test', localRecipient: null }
  const make = (text: string, ...args: string[]) => {
    const read = readSendmailArguments(args)
    return 'wrong' in read ? read : prepareLetter(Buffer.from(text), read, around)
  }
  const made = make(
    'From shop Mon\nTo: Team: ann@a.test, "B, C" <bob@a.test>;\r\nCc: root\nBcc: x@a.test,\n y@a.test\nFrom: s@a.test\n\nA\r\r\nB\rC',
    '-t',
  )
  if ('wrong' in made) return t.fail(made.wrong)
  t.deepEqual([...made.to], ['ann@a.test', 'bob@a.test', 'root@host.test', 'x@a.test', 'y@a.test'])
  t.is(made.from, 's@a.test')
  t.is(made.bytes.toString(), 'To: Team: ann@a.test, "B, C" <bob@a.test>;\r\nCc: root\r\nFrom: s@a.test\r\n\r\nA\r\nB\r\nC\r\n')
  t.like(make('Bcc: x@a.test\n\nA\n', 'y@a.test'), { to: ['y@a.test'], from: 'www@host.test' })
  const cron = make('From: "(Cron Daemon)" <root>\n\nA\n', 'y@a.test')
  t.is('wrong' in cron ? cron.wrong : cron.bytes.toString(), 'From: "(Cron Daemon)" <root@host.test>\r\n\r\nA\r\n')
  const resent = make('To: a@a.test\nResent-To: b@a.test\n\nA\n', '-t')
  t.like(resent, { to: ['b@a.test'] })
  for (const bad of ['To: "Bob" <bad address>\n\nA', 'To: Bob <rö ot>\n\n', 'Subject: x\n\nA', `To: ${'a@b.test,'.repeat(1200)}\n\nA`])
    t.true('wrong' in make(bad, '-t'), bad.slice(0, 40))
})
