/** The guide "Send Joomla mail through Postern" with PHPMailer, the library of Joomla. */
import { testWith } from '../../support/peers/peers.ts'
import { saidIn, Site, tableIn } from './site.ts'

/** Configuration names of the fields on Joomla's page. */
const names: Readonly<Record<string, string>> = {
  Mailer: 'mailer',
  'From Email': 'mailfrom',
  'SMTP Host': 'smtphost',
  'SMTP Port': 'smtpport',
  'SMTP Security': 'smtpsecure',
  'SMTP Authentication': 'smtpauth',
  'SMTP Username': 'smtpuser',
  'SMTP Password': 'smtppass',
}

/** Configuration values of the fields' choices. */
const choices: Readonly<Record<string, unknown>> = { SMTP: 'smtp', STARTTLS: 'tls', 'SSL/TLS': 'ssl', None: '', Yes: true }

/** Fields with a selected value, as configuration. */
const chosenIn = (fields: Readonly<Record<string, string>>): Readonly<Record<string, unknown>> =>
  Object.fromEntries(
    ['Mailer', 'SMTP Security', 'SMTP Authentication'].map((field) => [names[field], choices[fields[field]?.replace(/ \(.*/, '') ?? '']]),
  )

testWith('php', 'phpmailer')('PHPMailer sends by the guide of Joomla', async (t) => {
  await using site = await Site.start('joomla')
  await using beside = await Site.start('joomla-beside', { beside: true })
  const fields = await tableIn('joomla', 'Field')
  t.deepEqual(Object.keys(fields), Object.keys(names))
  t.is(fields['SMTP Port'], '`587`')
  t.like(chosenIn(fields), { mailer: 'smtp', smtpsecure: 'tls', smtpauth: true })
  const send = (given: Readonly<Record<string, unknown>>, at = site) => {
    const entered = { mailfrom: 'shop@example.com', smtphost: 'localhost', smtpport: Number(at.starttls), smtpuser: at.login.username }
    const configuration = { ...chosenIn(fields), ...entered, smtppass: at.login.password, ...given }
    return at.send(['php'], 'joomla.php', [JSON.stringify(configuration)])
  }
  const encrypted = choices[await saidIn('joomla', /For port 465 the field SMTP Security is `(\S+)`/)]
  await site.assertArrived(t, await send({}), 'Shop <shop@example.com>')
  await site.assertArrived(t, await send({ smtpport: Number(site.implicitTls), smtpsecure: encrypted }), 'Shop <shop@example.com>')
  const unencrypted = choices[await saidIn('joomla', /for port 2525 `(\w+)`/)]
  await beside.assertArrived(t, await send({ smtpsecure: unencrypted }, beside), 'Shop <shop@example.com>')
  const wrongPassword = await saidIn('joomla', /\*\*([^*]*)\*\* means that the user name or the password is wrong/)
  const wrongSender = await saidIn('joomla', /\*\*([^*]*)\*\* \(553 5\.7\.1\)/)
  await site.assertRefused(t, await send({ smtppass: 'wrong' }), new RegExp(wrongPassword))
  await site.assertRefused(t, await send({ mailfrom: 'shop@foreign.test' }), new RegExp(`${wrongSender}.*553`, 's'))
})
