/** The guides of TYPO3, Nextcloud and Drupal with Symfony Mailer, the library of these programs. */
import { execFile } from 'node:child_process'
import { chmod, readFile, rm } from 'node:fs/promises'
import { promisify } from 'node:util'
import { testWith } from '../../support/peers/peers.ts'
import { blockOf } from './guide-walk.ts'
import { saidIn, Site, type Ended } from './site.ts'

const run = promisify(execFile)
const test = testWith('php', 'symfonyMailer')

type Values = Readonly<Record<string, string>>

test('Symfony Mailer sends by the guide of TYPO3', async (t) => {
  await using site = await Site.start('typo3')
  const { username, password } = site.login
  const send = async (port: string, values: Values = {}, secret = password): Promise<Ended> => {
    const place = { 'mail.example.com:587': `localhost:${port}`, "'smtp_…'": `'${username}'`, "'…'": `'${secret}'` }
    const lines = await blockOf('typo3', 'config/system/additional.php', { ...place, ...values })
    return site.send(['php'], 'typo3.php', [await site.file('additional.php', lines)])
  }
  const encrypted = `encrypt' => ${await saidIn('typo3', /`(\w+)` is for port 465/)}`
  await site.assertArrived(t, await send(site.starttls), 'web@example.com')
  await site.assertArrived(t, await send(site.implicitTls, { "encrypt' => false": encrypted }), 'web@example.com')
  await site.assertRefused(t, await send(site.starttls, {}, 'wrong'), /535 5\.7\.8/)
  await site.assertRefused(t, await send(site.starttls, { 'web@example.com': 'web@foreign.test' }), /553 5\.7\.1/)
})

/** A command that appends the arguments of each call to a file. */
const occ = `#!/bin/sh
for word; do printf '%s\\t' "$word"; done >>calls
echo >>calls
`

test('Symfony Mailer sends by the guide of Nextcloud', async (t) => {
  await using site = await Site.start('nextcloud')
  const { username, password } = site.login
  await chmod(await site.file('occ', occ), 0o755)
  const send = async (port: string, values: Values = {}, secret = password): Promise<Ended> => {
    const place = { 'mail.example.com': 'localhost', '=587': `=${port}`, "'smtp_…'": `'${username}'`, "'…'": `'${secret}'` }
    const lines = await blockOf('nextcloud', 'occ', { ...place, ...values })
    await rm(`${site.folder}/calls`, { force: true })
    await run('sh', ['-eu', '-c', lines], { cwd: site.folder, env: { PATH: `${site.folder}:${String(process.env['PATH'])}` } })
    return site.send(['php'], 'nextcloud.php', [`${site.folder}/calls`])
  }
  const secure = `secure --value=${await saidIn('nextcloud', /`(\w+)` is for port 465/)}`
  await site.assertArrived(t, await send(site.starttls), 'cloud@example.com')
  t.is((await readFile(`${site.folder}/calls`, 'utf8')).split('\n').length, 10)
  await site.assertArrived(t, await send(site.implicitTls, { "secure --value=''": secure }), 'cloud@example.com')
  await site.assertRefused(t, await send(site.starttls, {}, 'wrong'), /535 5\.7\.8/)
  await site.assertRefused(t, await send(site.starttls, { '=example.com': '=foreign.test' }), /553 5\.7\.1/)
})

test('Symfony Mailer sends by the guide of Drupal', async (t) => {
  await using site = await Site.start('drupal')
  const { username, password } = site.login
  const send = async (port: string, values: Values = {}, secret = password, from = 'web@example.com'): Promise<Ended> => {
    const place = { 'mail.example.com': 'localhost', '=> 587': `=> ${port}`, "'smtp_…'": `'${username}'`, "'…'": `'${secret}'` }
    const lines = await blockOf('drupal', 'sites/default/settings.php', { ...place, ...values })
    return site.send(['php'], 'drupal.php', [await site.file('settings.php', `<?php\n${lines}`), from])
  }
  const scheme = `'${await saidIn('drupal', /Port 465 has the scheme `(\w+)`/)}'`
  await site.assertArrived(t, await send(site.starttls), 'web@example.com')
  await site.assertArrived(t, await send(site.implicitTls, { "'smtp'": scheme }), 'web@example.com')
  await site.assertRefused(t, await send(site.starttls, {}, 'wrong'), /535 5\.7\.8/)
  await site.assertRefused(t, await send(site.starttls, {}, password, 'web@foreign.test'), /553 5\.7\.1/)
})
