/** Requests to Mailgun with all parts. */
import { ada, bob, eva, help, html, later, shop, wholeHeader, type FullRequest } from './full-request.ts'

const header = Object.fromEntries(Object.entries(wholeHeader).map(([name, value]) => [`h:${name}`, value]))

export const mailgun: readonly FullRequest[] = [
  {
    path: '/v3/example.ch/messages?tracking=no',
    body: {
      ...{ from: `Shop <${shop}>`, to: `Ada <${ada}>`, cc: bob, bcc: eva, subject: 'Order', text: 'Hi', html },
      ...{ 'h:Reply-To': help, ...header, 'h:X-Mailgun-Variables': '{"list":"a"}', 'v:order': '4711', 'o:tag': 'order' },
      ...{ 'o:deliverytime': new Date(later).toUTCString(), 'o:tracking-clicks': 'htmlonly', 'o:tracking-opens': 'yes' },
      ...{ 'o:dkim': 'yes', 't:variables': '{"n":1}', 'attachment[5]': 'no file' },
    },
    files: { attachment: 'one', 'attachment[0]': 'two', 'attachment[]': 'three', 'inline[0]': 'four', Attachment: 'five', logo: 'six' },
    ignored: [
      ...['o:dkim', 't:variables', 'attachment[5]', 'Attachment', 'logo', '?tracking'],
      ...['h:MIME-Version', 'h:Content-Transfer-Encoding'],
    ],
  },
  {
    path: '/v3/example.ch/messages',
    body: {
      ...{ from: shop, to: ada, template: 'word', 't:version': '1', 't:variables': '{"n":"%recipient.own%"}', 'o:testmode': 'yes' },
      ...{ 'recipient-variables': `{"${ada}":{"own":"Ada","v:order":"4711"}}`, 'v:order': '%recipient.v:order%', 'o:tracking': 'yes' },
    },
    files: {},
    ignored: [],
  },
  {
    path: '/v3/example.ch/messages.mime',
    body: { from: shop, subject: 'Hi', to: ada, 'o:tag': 'order', 'v:order': '4711', 'o:require-tls': 'yes' },
    files: { message: `From: ${shop}\r\nTo: ${ada}\r\nSubject: Hi\r\n\r\nHi\r\n`, logo: 'one' },
    ignored: ['from', 'subject', 'o:require-tls', 'logo'],
  },
]
