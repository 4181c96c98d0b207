/** The commands of the README, from the start of the daemon to a relayed mail. Postfix simulates the provider. */
import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { Daemon, portOf } from '../../support/daemon/daemon.ts'
import { RestClient } from '../../support/daemon/rest.ts'
import { temporaryFolder } from '../../support/daemon/workspace.ts'
import { testWith } from '../../support/peers/peers.ts'
import { Sink } from '../../support/smtp/sink.ts'
import { waitFor, waiting } from '../../support/waits.ts'
import { Postfix } from '../../peers/postfix.ts'

const run = promisify(execFile)
const root = fileURLToPath(new URL('../../..', import.meta.url))

/** Returns the text between this heading and the next one. */
async function sectionOf(heading: string): Promise<string> {
  const text = await readFile(join(root, 'README.md'), 'utf8')
  const [, section] = new RegExp(`^## ${heading}\n([^]*?)^## `, 'm').exec(text) ?? []
  if (section === undefined) throw new Error(`the README has no section ${heading}`)
  return section
}

/** Returns the shell commands of a section in order. Lines that do not begin a command continue the previous one. */
function commandsIn(section: string): readonly string[] {
  const blocks = [...section.matchAll(/^```sh\n([^]*?)^```$/gm)].map(([, block = '']) => block.trim())
  return blocks.flatMap((block) => block.split(/\n(?=\S)/).filter((command) => command !== ''))
}

/** Ids in the output of commands, for later commands. */
class Answers {
  readonly #ids = new Map<string, string>()

  read(output: string): void {
    for (const [, name = '', id = ''] of output.matchAll(/"(id|trace_id)":"([^"]+)"/g))
      this.#ids.set(name === 'trace_id' ? '<trace_id>' : `${id.slice(0, 4)}…`, id)
  }

  fillIn(command: string): string {
    return [...this.#ids].reduce((text, [place, id]) => text.replaceAll(place, id), command)
  }
}

testWith('postfix', 'swaks')('the README leads from the first start to a mail that a provider has accepted', async (t) => {
  await using cleanup = new AsyncDisposableStack()
  const folder = cleanup.use(await temporaryFolder('readme')).path
  const sink = cleanup.use(await Sink.listen())
  const outer = cleanup.use(await temporaryFolder('postfix')).path
  const postfix = cleanup.use(await Postfix.start({ folder: outer, settings: { relayhost: `[127.0.0.1]:${String(sink.port)}` } }))

  // the packages of the working tree are used, and `Daemon` starts in the same way as `npm start`
  t.is(commandsIn(await sectionOf('Run it'))[0], 'npm ci && npm start')
  const allowed = `destinations=127.0.0.1/32:${String(postfix.port)}`
  const env = { POSTERN_ADMIN_KEY: '', POSTERN_SUBMISSION_CLEARTEXT_AUTH: '', POSTERN_OUTBOUND_ALLOW: allowed }
  const daemon = cleanup.use(await Daemon.start({ folder, env }))
  const printed = (pattern: RegExp): string => pattern.exec(daemon.log)?.[1] ?? ''
  const key = printed(/^ {2}(svckey_\S+)$/m)

  const answers = new Answers()
  const places: readonly (readonly [string, string])[] = [
    ['http://127.0.0.1:8080', `http://${daemon.addresses.http}`],
    ['127.0.0.1:2525', `127.0.0.1:${String(portOf(daemon.addresses.submission[0]))}`],
    ['--auth-user smtp_…', `--auth-user ${printed(/^ {2}user +(smtp_\S+)$/m)}`],
    ['--auth-password …', `--auth-password ${printed(/^ {2}password +(\S+)$/m)}`],
    ['"preset": "infomaniak",', ''],
    ['{ "username": "me@example.com", "password": "…" }', `{ "host": "127.0.0.1", "port": ${String(postfix.port)}, "security": "none" }`],
  ]
  const follow = async (command: string): Promise<string> => {
    const filledIn = answers.fillIn(places.reduce((text, [from, to]) => text.replaceAll(from, to), command))
    t.notRegex(filledIn, /…|<trace_id>/, 'every placeholder is replaced')
    const { stdout } = await run('bash', ['-c', `set -e\n${filledIn}`], { env: { ...process.env, KEY: key } })
    answers.read(stdout)
    return stdout
  }

  const commands = commandsIn(await sectionOf('First mail'))
  const [assignment, ...steps] = commands
  t.is(assignment, 'KEY=svckey_…')
  const outputs: string[] = []
  for (const command of steps) outputs.push(await follow(command))
  const said = (pattern: RegExp): string => outputs[steps.findIndex((command) => pattern.test(command))] ?? ''
  t.regex(said(/v1\/messages -H/), /"outcome":"captured\.no_route"/)
  t.regex(said(/^swaks/), /250 2\.0\.0 Ok: captured as \S+ \(no_route\)/)
  t.regex(said(/\/inboxes\/inb_/), /"subject":"Hello"/)
  t.regex(said(/v1\/traces/), /"status":"captured"/)
  t.regex(said(/"provider": "smtp"/), /"warnings":\[\]/)
  t.regex(said(/promote-to-live/), /"mode":"live".*"leads_here":true.*"warnings":\[\]/)
  t.is(sink.deliveries.length, 0, 'no mail was relayed yet')

  const first = steps.find((command) => /v1\/messages -H/.test(command)) ?? ''
  const again = JSON.parse(await follow(first)) as Record<string, unknown>
  t.deepEqual([again['outcome'], again['warnings']], ['relayed', undefined])
  const left = await waiting(
    'the first real mail',
    sink.delivered(() => true),
  )
  t.deepEqual(left.to, ['customer@example.org'])
  using rest = new RestClient(daemon.addresses.http, key)
  const trace = await waitFor('the trace is sent', async () => {
    const found = await rest.must('GET', `/v1/traces/${String(again['trace_id'])}`)
    return found['status'] === 'sent' ? JSON.stringify(found) : undefined
  })
  t.regex(trace, /Ok: queued as [0-9A-Za-z]+/)

  const bySmtp = await follow(steps.find((command) => command.startsWith('swaks')) ?? '')
  t.regex(bySmtp, /250 2\.0\.0 Ok: queued as/)
  await waiting(
    'the mail by SMTP',
    sink.delivered(({ content }) => content.includes('test ')),
  )
})
