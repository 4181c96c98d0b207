/** The guide "PHP's mail() without a mail server" with PHP. */
import { execFile } from 'node:child_process'
import { mkdir, readdir, symlink } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { runCommand } from '../../support/daemon/daemon.ts'
import { testWith } from '../../support/peers/peers.ts'
import { blockOf } from './guide-walk.ts'
import { saidIn, Site } from './site.ts'

const run = promisify(execFile)
const program = fileURLToPath(new URL('../../../daemon/postern.js', import.meta.url))

testWith('php')("PHP's mail() sends by its guide, and keeps mail while the daemon is away", async (t) => {
  await using site = await Site.start('php-mail')
  const { folder, daemon } = site
  const key = (await runCommand({ folder }, 'key', 'create', 'my site', '--send-only')).output.trim()
  await mkdir(join(folder, 'bin'))
  await symlink(program, join(folder, 'bin', 'postern'))
  const env = { PATH: [join(folder, 'bin'), dirname(process.execPath), process.env['PATH']].join(':') }
  const command = (await saidIn('php-mail', /Run `(php -r ".*")`/)).replace(/^php/, `php -c ${folder}/php.ini`)
  const send = async (address: string, secret: string): Promise<{ readonly code: number; readonly output: string }> => {
    const spool = { '/var/spool/postern': join(folder, 'spool') }
    await site.file('php.ini', await blockOf('php-mail', 'php.ini', { '127.0.0.1:8080': address, 'svckey_…': secret, ...spool }))
    const { stdout, stderr } = await run('sh', ['-c', command], { cwd: folder, env })
    return { code: 0, output: stdout + stderr }
  }
  const sent = await send(daemon.addresses.http, key)
  t.regex(sent.output, /bool\(true\)/)
  await site.assertHello(t, sent, 'shop@example.com')
  t.regex((await send('127.0.0.1:1', key)).output, /bool\(true\)/)
  t.is((await readdir(join(folder, 'spool'))).length, 1)
  t.regex((await send(daemon.addresses.http, 'svckey_wrong')).output, /bool\(false\)/)
})
