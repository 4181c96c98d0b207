/** The guide "Send Rails mail through Postern" with Action Mailer. */
import { testWith } from '../../support/peers/peers.ts'
import { blockOf } from './guide-walk.ts'
import { saidIn, Site } from './site.ts'

const shop = 'Shop <shop@example.com>'

testWith('actionmailer')('Action Mailer sends by the guide of Rails', async (t) => {
  await using site = await Site.start('rails')
  await using beside = await Site.start('rails-beside', { beside: true })
  const { password } = site.login
  // the configuration selects the kind of TLS by the port
  const lines = await blockOf('rails', 'config/environments/production.rb', {
    "'587'": `'${site.starttls}'`,
    "'465'": `'${site.implicitTls}'`,
  })
  const send = async (SMTP_PORT: string, text: string, SMTP_PASSWORD: string, code: readonly string[] = [], at = site) => {
    const file = await at.file('production.rb', text)
    const env = { SMTP_HOST: 'localhost', SMTP_PORT, SMTP_USER: at.login.username, SMTP_PASSWORD }
    return at.send(['/usr/bin/ruby'], 'rails.rb', [file, ...code], env)
  }
  const starttls = await send(site.starttls, lines, password)
  t.regex(starttls.output, /enable_starttls=>true/)
  await site.assertArrived(t, starttls, shop)
  const implicit = await send(site.implicitTls, lines, password)
  t.regex(implicit.output, /enable_starttls=>false/)
  t.notRegex(implicit.output, /enable_starttls_auto/, 'Mail 2.9 refuses it together with tls')
  await site.assertArrived(t, implicit, shop)
  const hello = await saidIn('rails', /`(ActionMailer::Base\.mail\(.*\)\.deliver_now)`/)
  await site.assertHello(t, await send(site.starttls, lines, password, [hello]), shop)
  await beside.assertArrived(t, await send(beside.starttls, lines, beside.login.password, [], beside), shop)
  await site.assertRefused(t, await send(site.starttls, lines, 'wrong'), /535 5\.7\.8/)
  await site.assertRefused(t, await send(site.starttls, lines.replace('shop@example.com', 'shop@foreign.test'), password), /553 5\.7\.1/)
})
