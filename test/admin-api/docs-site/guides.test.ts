/** The code of the guides, extracted from the chapters and run with a login of a daemon, sends mail that is captured. */
import { execFile } from 'node:child_process'
import { mkdir, readFile, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import test, { type ExecutionContext } from '#test'
import { Daemon, portOf } from '../../support/daemon/daemon.ts'
import { catchAllInbox, type Login } from '../../support/daemon/provision.ts'
import { RestClient } from '../../support/daemon/rest.ts'
import { temporaryFolder } from '../../support/daemon/workspace.ts'
import { testWith } from '../../support/peers/peers.ts'

const run = promisify(execFile)
const root = fileURLToPath(new URL('../../..', import.meta.url))

/** Returns the block of a guide with this title or tab. */
async function codeOf(guide: string, name: string): Promise<string> {
  const text = await readFile(join(root, 'admin-api/docs/guides', `${guide}.md`), 'utf8')
  const [, code] = new RegExp(`^\`\`\`\\w+ (?:title|tab)="${name}"\n([^]*?)^\`\`\`$`, 'm').exec(text) ?? []
  if (code === undefined) throw new Error(`${guide}.md has no block named ${name}`)
  return code
}

interface Place {
  readonly folder: string
  readonly rest: RestClient
  readonly key: string
  readonly http: string
  readonly login: Login
  readonly port: string
  readonly env: NodeJS.ProcessEnv
}

const lifetime = new AsyncDisposableStack()
let place: Place

test.before(async () => {
  const folder = lifetime.use(await temporaryFolder('guides')).path
  const unset = { POSTERN_ADMIN_KEY: '', POSTERN_SUBMISSION_CLEARTEXT_AUTH: '', POSTERN_OUTBOUND_ALLOW: '' }
  const daemon = lifetime.use(await Daemon.start({ folder, env: unset }))
  const printed = (pattern: RegExp): string => pattern.exec(daemon.log)?.[1] ?? ''
  const key = printed(/^ {2}(svckey_\S+)$/m)
  const rest = lifetime.use(new RestClient(daemon.addresses.http, key))
  const login = { username: printed(/^ {2}user +(smtp_\S+)$/m), password: printed(/^ {2}password +(\S+)$/m) }
  const port = String(portOf(daemon.addresses.submission[0]))
  const smtp = { SMTP_HOST: '127.0.0.1', SMTP_PORT: port, SMTP_USER: login.username, SMTP_PASSWORD: login.password }
  place = { folder, rest, key, http: daemon.addresses.http, login, port, env: { ...process.env, ...smtp, POSTERN_API_KEY: key } }
})
test.after.always(() => lifetime.disposeAsync())

async function assertCaptured(t: ExecutionContext, subject: string, from: string): Promise<void> {
  const found: Record<string, unknown>[] = []
  for await (const row of place.rest.rows(`/v1/inboxes/${await catchAllInbox(place.rest)}/messages`))
    if (row['subject'] === subject) found.push(row)
  t.is(found.length, 1, `messages named ${subject}`)
  t.like(found[0], { capture_reason: 'captured.no_route', intended_from: from, intended_to: ['customer@example.org'] })
}

/** Simulates WordPress around the two files: its hooks, and the setup of PHPMailer in `wp_mail()`. */
const wordpress = (config: string, plugin: string): string => `<?php
require '/usr/share/php/libphp-phpmailer/autoload.php';
$hooks = [];
class WP_Error { function __construct(private $message) {} function get_error_message() { return $this->message; } }
function add_filter($name, $call) { global $hooks; $hooks[$name] = $call; }
function add_action($name, $call) { global $hooks; $hooks[$name] = $call; }
${config}
${plugin.replace('<?php', '')}
$mail = new PHPMailer\\PHPMailer\\PHPMailer(true);
$mail->isMail();
$mail->CharSet = 'UTF-8';
$mail->ContentType = 'text/plain';
$mail->setFrom($hooks['wp_mail_from']('wordpress@localhost'), 'WordPress', false);
$mail->addAddress('customer@example.org');
$mail->Subject = 'Password reset';
$mail->Body = 'Follow this link.';
$hooks['phpmailer_init']($mail);
try { $mail->send(); }
catch (PHPMailer\\PHPMailer\\Exception $error) { $hooks['wp_mail_failed'](new WP_Error($error->getMessage())); }
`

testWith('php', 'phpmailer')('WordPress: wp-config.php and the plugin of the guide', async (t) => {
  const given = await codeOf('wordpress', 'wp-config.php')
  const config = given
    .replace("'mail.example.com'", "'127.0.0.1'")
    .replace(/_PORT', 587/, `_PORT', ${place.port}`)
    .replace("'smtp_…'", `'${place.login.username}'`)
    .replace("'…'", `'${place.login.password}'`)
  const plugin = await codeOf('wordpress', 'wp-content/mu-plugins/postern.php')
  const file = join(place.folder, 'wordpress.php')
  await writeFile(file, wordpress(config, plugin))
  t.is((await run('php', [file])).stderr, '')
  await assertCaptured(t, 'Password reset', 'shop@example.com')
  await writeFile(file, wordpress(config.replace(place.login.password, 'wrong'), plugin))
  const { stderr } = await run('php', [file])
  t.regex(stderr, /Could not authenticate/, 'the error log contains the text of the guide')
})

testWith('python', 'django')('Django: settings.py of the guide', async (t) => {
  const folder = join(place.folder, 'django')
  await mkdir(folder, { recursive: true })
  await writeFile(join(folder, 'settings.py'), await codeOf('django', 'settings.py'))
  const send = "from django.core.mail import send_mail; send_mail('From Django', 'It works.', None, ['customer@example.org'])"
  await run('/usr/bin/python3', ['-c', send], { cwd: folder, env: { ...place.env, DJANGO_SETTINGS_MODULE: 'settings' } })
  await assertCaptured(t, 'From Django', 'shop@example.com')
})

test('Node: both ways of the guide', async (t) => {
  const folder = join(place.folder, 'node')
  await mkdir(folder, { recursive: true })
  await symlink(join(root, 'node_modules'), join(folder, 'node_modules'))
  for (const [tab, subject] of [
    ['REST', 'By REST'],
    ['Nodemailer', 'By Nodemailer'],
  ] as const) {
    const code = (await codeOf('node', tab)).replace('127.0.0.1:8080', place.http).replace('Your order', subject)
    const file = join(folder, `${tab}.mjs`)
    await writeFile(file, code)
    const { stdout } = await run(process.execPath, [file], { env: place.env })
    t.regex(stdout, /captured.*no_route/)
    await assertCaptured(t, subject, 'shop@example.com')
  }
})
