/** Requests to Resend with all fields. */
import { ada, bob, eva, file, help, html, later, shop, wholeHeader, type FullRequest } from './full-request.ts'

export const resend: readonly FullRequest[] = [
  {
    path: '/emails',
    body: {
      ...{ from: `Shop <${shop}>`, to: [`Ada <${ada}>`], cc: bob, bcc: [eva], reply_to: [help], subject: 'Order' },
      ...{ html, text: 'Hi', headers: wholeHeader, scheduled_at: later, audience: 'all' },
      tags: [{ name: 'kind', value: 'order', note: 'x' }],
      attachments: [{ filename: 'a.bin', content: file, content_type: 'text/csv', content_id: 'a@b', inline_content_id: 'c@d', size: 4 }],
    },
    ignored: [
      ...['audience', 'attachments[].inline_content_id', 'attachments[].size', 'tags[].note'],
      ...['headers.MIME-Version', 'headers.Content-Transfer-Encoding', 'headers.Message-ID'],
    ],
  },
  {
    path: '/emails',
    body: { from: shop, to: ada, template: { id: 'word', variables: { n: 'Ada' }, version: 2 } },
    ignored: ['template.version'],
  },
]
