/** Requests to Brevo with all fields. */
import { ada, bob, eva, file, help, html, later, shop, wholeHeader, type FullRequest } from './full-request.ts'

const one = (email: string, name: string) => ({ email, name })

export const brevo: readonly FullRequest[] = [
  {
    path: '/v3/smtp/email',
    body: {
      ...{ sender: one(shop, 'Shop'), to: [one(ada, 'Ada')], cc: [one(bob, 'Bob')], bcc: [{ email: eva }], replyTo: one(help, 'Help') },
      ...{ subject: 'Order {{params.n}}', htmlContent: html, textContent: 'Hi', params: { n: '4711' }, tags: ['order'] },
      headers: { ...wholeHeader, 'X-Mailin-custom': '{"order":4711}', 'sender.ip': '192.0.2.1' },
      ...{ attachment: [{ name: 'a.csv', content: file, size: 4 }], scheduledAt: later, batchId: 'b1' },
    },
    ignored: [
      ...['batchId', 'attachment[].size', 'headers.MIME-Version', 'headers.Content-Transfer-Encoding'],
      ...['headers.Message-ID', 'headers.sender.ip'],
    ],
  },
  {
    path: '/v3/smtp/email',
    body: {
      ...{ sender: { email: shop }, to: [{ email: bob }], subject: 'Hi', templateId: 'words', htmlContent: html, params: { n: 'a' } },
      messageVersions: [{ to: [{ email: ada }], subject: 'Order', textContent: 'Hi', params: { m: 'b' } }],
      headers: { 'X-Sib-Sandbox': 'drop' },
    },
    ignored: ['to', 'subject', 'htmlContent', 'messageVersions[0].textContent'],
  },
]
