/** Names of recipients arrive as intended: quoted names, and names in a header field of the request. */
import test from '#test'
import { simpleParser, type AddressObject } from 'mailparser'
import { startDaemon, type StartedDaemon } from '../../../support/daemon/start-daemon.ts'
import { ada, bob, eva, shop } from './full-request.ts'
import { paths, type Body } from '../marked-requests.ts'

type Shown = Readonly<Record<'from' | 'to' | 'cc', string>>

const shownIn = (field: AddressObject | AddressObject[] | undefined): string =>
  [field ?? []]
    .flat()
    .flatMap(({ value }) => value.map(({ name, address = '' }) => `${name} <${address}>`))
    .join(', ')

/** Returns the only message of a request, parsed. */
async function sent({ rest }: StartedDaemon, path: string, body: Body): Promise<Shown> {
  const { status, headers, bytes } = await rest.call('POST', path, body)
  const [id] = /[\da-f]{8}-[\da-f]{4}-4[\da-f-]{21}/.exec(`${String(headers['x-message-id'])} ${bytes.toString()}`) ?? []
  if (id === undefined) throw new Error(`${String(status)} ${bytes.toString()}`)
  const { from, to, cc } = await simpleParser((await rest.call('GET', `/v1/traces/${id}/message/raw`)).bytes)
  return { from: shownIn(from), to: shownIn(to), cc: shownIn(cc) }
}

const quoted = (email: string, name: string) => ({ email, name: `"${name}"` })
const capital = ({ email, name }: ReturnType<typeof quoted>) => ({ Email: email, Name: name })
const people = [quoted(shop, 'Shop, Zoë'), quoted(ada, String.raw`Käufer \"A\"`), quoted(bob, 'Bob')] as const
const [from, to, cc] = people

/** The same mail, with quotes around the names as some clients write them. */
const requests: Readonly<Record<string, readonly [path: string, body: Body]>> = {
  SendGrid: [
    paths.sendgrid,
    { from, subject: 's', content: [{ type: 'text/plain', value: 't' }], personalizations: [{ to: [to], cc: [cc] }] },
  ],
  Brevo: [paths.brevo, { sender: from, to: [to], cc: [cc], subject: 's', textContent: 't' }],
  MailerSend: [paths.mailersend, { from, to: [to], cc: [cc], subject: 's', text: 't' }],
  SparkPost: [
    paths.sparkpost,
    {
      recipients: [{ address: to }, { address: { ...cc, header_to: ada } }],
      content: { from, subject: 's', text: 't', headers: { CC: bob } },
    },
  ],
  Mailjet: [paths.mailjet, { Messages: [{ From: capital(from), To: [capital(to)], Cc: [capital(cc)], Subject: 's', TextPart: 't' }] }],
}

test('names: quotes around a name are removed', async (t) => {
  const daemon = await startDaemon(t)
  const expected = { from: `Shop, Zoë <${shop}>`, to: `Käufer "A" <${ada}>`, cc: `Bob <${bob}>` }
  for (const [service, [path, body]] of Object.entries(requests)) t.deepEqual(await sent(daemon, path, body), expected, service)
  const inner = { sender: { email: shop, name: 'The "Shop"' }, to: [{ email: ada, name: '"' }], subject: 's', textContent: 't' }
  t.deepEqual(await sent(daemon, paths.brevo, inner), { from: `The "Shop" <${shop}>`, to: `" <${ada}>`, cc: '' }, 'other quotes stay')
})

test('SparkPost: recipients get their names from header_to and the Cc header', async (t) => {
  const daemon = await startDaemon(t)
  const content = { from: shop, subject: 's', text: 't' }
  const transmission = (recipients: readonly object[], CC?: string): Body => ({
    recipients: recipients.map((address) => ({ address })),
    content: { ...content, ...(CC !== undefined && { headers: { CC } }) },
  })
  const own = transmission([{ email: ada, header_to: `Käufer <${ada}>` }])
  t.deepEqual(await sent(daemon, paths.sparkpost, own), { from: ` <${shop}>`, to: `Käufer <${ada}>`, cc: '' })
  const both = `"Ada, A." <${ada}>, Eva <${eva}>`
  const copies = transmission(
    [
      { email: ada, header_to: ada },
      { email: eva, name: 'Own' },
      { email: bob, header_to: both },
    ],
    `"Bob, B." <${bob}>`,
  )
  const shown = { from: ` <${shop}>`, to: `Ada, A. <${ada}>, Own <${eva}>`, cc: `Bob, B. <${bob}>` }
  t.deepEqual(await sent(daemon, paths.sparkpost, copies), shown, 'the name in the address takes precedence')
})
