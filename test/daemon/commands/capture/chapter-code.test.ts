/** The helpers in the documentation chapter on mail tests, unchanged: run by PHPUnit, and with a browser. */
import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { buffer, text } from 'node:stream/consumers'
import { fileURLToPath, pathToFileURL } from 'node:url'
import test from '#test'
import { createTransport } from 'nodemailer'
import { spawnCommand } from '../../../support/daemon/daemon.ts'
import { temporaryFolder } from '../../../support/daemon/workspace.ts'
import { reasonAgainst } from '../../../support/peers/peer-packages.ts'
import { browserOf } from '../../../support/web/browser.ts'
import { waiting } from '../../../support/waits.ts'

const chapter = readFileSync(fileURLToPath(new URL('../../../../admin-api/docs/mail-tests.md', import.meta.url)), 'utf8')
/** Returns the code block of the chapter with this file name in its first lines. */
function blockOf(name: string): string {
  const block = [...chapter.matchAll(/^```(?:ts|php)\n([^]*?)^```$/gm)]
    .map(([, code = '']) => code)
    .find((code) => code.slice(0, 80).includes(name))
  if (block === undefined) throw new Error(`the chapter has no ${name}`)
  return block
}

const browser = browserOf(test)

interface PosternMail {
  mailTo(to: string, options?: { subject?: string; seconds?: number }): Promise<{ subject: string; text: string; html: string }>
  linkIn(mail: { text: string; html: string }, part?: string): string
}

test('mail test chapter: its helpers find mail for PHPUnit and browser tests', async (t) => {
  const missing = reasonAgainst('phpunit') ?? reasonAgainst('phpmailer')
  if (missing !== undefined) return t.fail(missing)
  await using folder = await temporaryFolder('helpers')
  await writeFile(join(folder.path, 'PosternMail.php'), blockOf('PosternMail.php'))
  await writeFile(join(folder.path, 'SignUpTest.php'), blockOf('SignUpTest.php'))
  await writeFile(join(folder.path, 'postern-mail.ts'), blockOf('postern-mail.ts'))
  const child = spawnCommand(
    { folder: folder.path },
    'capture',
    '--',
    process.execPath,
    '-e',
    'console.log(JSON.stringify(process.env)); setInterval(() => 1, 1e6)',
  )
  t.teardown(() => child.kill('SIGTERM'))
  const env = JSON.parse(await waiting('the variables', firstLine(child.stdout))) as Record<string, string>
  const args = ['--bootstrap', '/usr/share/php/libphp-phpmailer/autoload.php', 'SignUpTest.php']
  const phpunit = spawn('/usr/bin/phpunit', args, { cwd: folder.path, env, stdio: ['ignore', 'pipe', 'inherit'] })
  t.regex(await text(phpunit.stdout), /OK \(1 test, 1 assertion\)/)

  for (const name of ['POSTERN_URL', 'POSTERN_API_KEY', 'POSTERN_INBOX_ID']) {
    process.env[name] = env[name]
    t.teardown(() => delete process.env[name])
  }
  const { mailTo, linkIn } = (await import(pathToFileURL(join(folder.path, 'postern-mail.ts')).href)) as PosternMail
  const site = await signUpSite(String(env['SMTP_URL']))
  t.teardown(site.close)
  const page = await browser().newPage()
  await page.goto(`${site.origin}/sign-up`)
  await page.getByLabel('Email').fill('ann+1@example.com')
  const mail = mailTo('ann+1@example.com', { subject: 'Confirm' })
  await page.getByRole('button', { name: 'Sign up' }).click()
  await page.goto(linkIn(await mail, '/confirm'))
  t.true(await page.getByText('Your address is confirmed.').isVisible())
  await page.close()
  await t.throwsAsync(mailTo('nobody@example.com', { seconds: 0 }), { message: /^No mail to nobody@example\.com came within 0 seconds\.$/ })
  t.throws(() => linkIn({ text: 'none', html: '' }), { message: /no link/ })
})

async function firstLine(stream: NodeJS.ReadableStream): Promise<string> {
  let gathered = ''
  for await (const chunk of stream) {
    gathered += String(chunk)
    if (gathered.includes('\n')) break
  }
  return gathered
}

/** A site for sign-ups that mails a confirmation link. */
async function signUpSite(smtpUrl: string): Promise<{ readonly origin: string; readonly close: () => void }> {
  const transport = createTransport(smtpUrl)
  const server = createServer((request, response) => {
    const page = (body: string): void =>
      void response.setHeader('content-type', 'text/html').end(`<!doctype html><title>Shop</title>${body}`)
    if (request.method === 'POST') {
      void buffer(request).then(async (body) => {
        const to = new URLSearchParams(body.toString()).get('email') ?? ''
        const html = `<a href="${origin}/confirm?a=1&amp;b=2">Confirm</a>`
        await transport.sendMail({ from: 'shop@example.com', to, subject: 'Confirm your address', html })
        page('Look into your mail.')
      })
    } else if (request.url?.startsWith('/confirm?a=1&b=2')) page('Your address is confirmed.')
    else page('<form method="post"><label>Email <input name="email"></label><button>Sign up</button></form>')
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const origin = `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`
  return {
    origin,
    close: () => {
      transport.close()
      server.closeAllConnections()
      server.close()
    },
  }
}
