/** The guide "Send Laravel mail through Postern" with Laravel 8, and with Symfony Mailer, the library of later versions. */
import { testWith } from '../../support/peers/peers.ts'
import { blockOf } from './guide-walk.ts'
import { saidIn, Site } from './site.ts'

const shop = 'Shop <shop@example.com>'

/** The lines of the guide with this port and login. */
const env = (site: Site, port: string, password = site.login.password): Promise<string> =>
  blockOf('laravel', '.env', {
    'mail.example.com': 'localhost',
    '=587': `=${port}`,
    'smtp_…': site.login.username,
    'PASSWORD=…': `PASSWORD=${password}`,
  })

testWith(
  'php',
  'laravelConfig',
  'laravelMail',
  'laravelView',
  'phpdotenv',
)('Laravel 8 sends by its guide', async (t) => {
  await using site = await Site.start('laravel-8')
  const send = async (text: string, ...code: readonly string[]) => {
    await site.file('.env', text)
    return site.send(['php'], 'laravel-8.php', [site.folder, ...code])
  }
  const starttls = await saidIn('laravel', /add `(\S+)` for port 587/)
  const implicit = await saidIn('laravel', /or `(\S+)` for port 465/)
  const [lines, encrypted] = [await env(site, site.starttls), await env(site, site.implicitTls)]
  await site.assertArrived(t, await send(`${lines}${starttls}\n`), shop)
  await site.assertArrived(t, await send(`${encrypted}${implicit}\n`), shop)
  await site.assertHello(t, await send(`${lines}${starttls}\n`, await saidIn('laravel', /`(Mail::raw\(.*\);)`/)), shop)
  await site.assertRefused(t, await send(lines), /530 5\.7\.0/)
  await site.assertRefused(t, await send(`${await env(site, site.starttls, 'wrong')}${starttls}\n`), /535 5\.7\.8/)
  await site.assertRefused(t, await send(`${lines.replace('shop@example.com', 'shop@foreign.test')}${starttls}\n`), /553 5\.7\.1/)
})

testWith(
  'php',
  'phpdotenv',
  'symfonyMailer',
)('Symfony Mailer sends by the guide of Laravel', async (t) => {
  await using site = await Site.start('laravel')
  await using beside = await Site.start('laravel-beside', { beside: true })
  const send = async (text: string, at = site) => {
    await at.file('.env', text)
    return at.send(['php'], 'laravel.php', [at.folder], { PORT_OF_TLS: site.implicitTls })
  }
  const lines = await env(site, site.starttls)
  await site.assertArrived(t, await send(lines), shop)
  await site.assertArrived(t, await send(await env(site, site.implicitTls)), shop)
  await beside.assertArrived(t, await send(await env(beside, beside.starttls), beside), shop)
  await site.assertRefused(t, await send(await env(site, site.starttls, 'wrong')), /535 5\.7\.8/)
  await site.assertRefused(t, await send(lines.replace('shop@example.com', 'shop@foreign.test')), /553 5\.7\.1/)
})
