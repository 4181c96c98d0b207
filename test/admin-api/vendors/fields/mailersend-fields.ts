/** Requests to MailerSend with all fields. */
import { ada, bob, eva, file, help, html, laterSeconds, shop, wholeHeader, type FullRequest } from './full-request.ts'

const one = (email: string, name: string) => ({ email, name })

export const mailersend: readonly FullRequest[] = [
  {
    path: '/v1/email',
    body: {
      ...{ from: one(shop, 'Shop'), to: [one(ada, 'Ada')], cc: [one(bob, 'Bob')], bcc: [{ email: eva }], reply_to: one(help, 'Help') },
      ...{ subject: 'Order {{n}}', text: 'Hi', html, tags: ['order'], send_at: laterSeconds, precedence_bulk: true },
      personalization: [
        { email: ada, data: { n: '4711' } },
        { email: bob, data: { n: '4712' } },
      ],
      ...{ in_reply_to: '<a@example.ch>', references: ['<b@example.ch>'], list_unsubscribe: '<https://example.ch/leave>' },
      headers: Object.entries(wholeHeader).map(([name, value]) => ({ name, value })),
      attachments: [{ content: file, filename: 'a.csv', disposition: 'inline', id: 'a@b' }],
      settings: { track_clicks: true, track_opens: true, track_content: true },
    },
    ignored: [
      ...['settings.track_content', 'personalization[].data', 'headers.MIME-Version', 'headers.Content-Transfer-Encoding'],
      'headers.Message-ID',
    ],
  },
  {
    path: '/v1/email',
    body: { from: { email: shop }, to: [{ email: ada }], template_id: 'word', personalization: [{ email: ada, data: { n: 'Ada' } }] },
    ignored: [],
  },
]
