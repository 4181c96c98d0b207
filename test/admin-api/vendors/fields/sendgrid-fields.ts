/** Requests to SendGrid with all fields. */
import { ada, bob, eva, file, help, html, laterSeconds, shop, wholeHeader, type FullRequest } from './full-request.ts'

const one = (email: string, name: string) => ({ email, name })

export const sendgrid: readonly FullRequest[] = [
  {
    path: '/v3/mail/send',
    body: {
      personalizations: [
        {
          ...{ from: one('own@example.ch', 'Own'), to: [one(ada, 'Ada')], cc: [one(bob, 'Bob')], bcc: [{ email: eva }] },
          ...{ subject: 'Order -n-', headers: { 'X-Own': '1' }, substitutions: { '-n-': '4711' }, send_at: laterSeconds },
          ...{ custom_args: { own: 'a' }, dynamic_template_data: { n: 1 } },
        },
      ],
      ...{ from: one(shop, 'Shop'), subject: 'Hi', send_at: laterSeconds + 1, reply_to_list: [one(help, 'Help')] },
      content: [
        { type: 'text/plain', value: 'Hi' },
        { type: 'text/html', value: `-m- ${html}` },
      ],
      attachments: [{ content: file, filename: 'a.bin', type: 'text/csv', disposition: 'inline', content_id: 'a@b' }],
      ...{ headers: wholeHeader, substitutions: { '-m-': 'all' }, custom_args: { all: 'b' }, categories: ['order'] },
      ...{ batch_id: 'b1', ip_pool_name: 'pool' },
      mail_settings: { bypass_list_management: { enable: true }, footer: { enable: false } },
      tracking_settings: { click_tracking: { enable: true, enable_text: true }, open_tracking: { enable: true } },
    },
    ignored: [
      ...['from', 'subject', 'send_at', 'batch_id', 'ip_pool_name', 'mail_settings.bypass_list_management'],
      ...['tracking_settings.click_tracking.enable_text', 'personalizations[0].dynamic_template_data'],
      ...['headers.MIME-Version', 'headers.Content-Transfer-Encoding'],
    ],
  },
  {
    path: '/v3/mail/send',
    body: {
      ...{ from: { email: shop }, template_id: 'd-word', subject: 'Hi', content: [{ type: 'text/plain', value: 'Hi' }] },
      personalizations: [{ to: [{ email: ada }], dynamic_template_data: { n: 'Ada' } }],
      ...{ substitutions: { '-m-': 'all' }, mail_settings: { sandbox_mode: { enable: true } } },
      ...{ asm: { group_id: 12, groups_to_display: [12] } },
    },
    ignored: ['subject', 'content', 'substitutions', 'asm.groups_to_display'],
  },
]
