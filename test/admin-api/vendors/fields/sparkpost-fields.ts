/** Requests to SparkPost with all fields. */
import { ada, bob, eva, file, help, html, later, shop, wholeHeader, type FullRequest } from './full-request.ts'

export const sparkpost: readonly FullRequest[] = [
  {
    path: '/api/v1/transmissions?num_rcpt_errors=3',
    body: {
      options: { start_time: later, open_tracking: true, click_tracking: true, transactional: true, ip_pool: 'pool' },
      ...{
        campaign_id: 'spring',
        description: 'x',
        return_path: 'bounce@example.ch',
        metadata: { all: 'a' },
        substitution_data: { m: 'b' },
      },
      recipients: [
        {
          address: { email: ada, name: 'Ada' },
          ...{ tags: ['order'], metadata: { own: 'c' }, substitution_data: { n: '4711' }, return_path: 'own@example.ch' },
        },
        { address: { email: bob, header_to: ada }, tags: ['copy'], metadata: { copy: 'd' }, substitution_data: { n: '4712' } },
        { address: { email: eva, header_to: ada } },
      ],
      content: {
        ...{ from: { email: shop, name: 'Shop' }, subject: 'Order {{n}}', reply_to: help, text: 'Hi {{m}}', html },
        headers: { ...wholeHeader, CC: `Bob <${bob}>` },
        attachments: [{ name: 'a.bin', type: 'text/csv', data: file }],
        inline_images: [{ name: 'logo', type: 'image/png', data: file }],
      },
    },
    ignored: [
      ...['description', 'return_path', 'options.transactional', 'options.ip_pool', 'recipients[0].return_path', 'recipients[1].tags'],
      ...['recipients[1].substitution_data', 'recipients[1].metadata', '?num_rcpt_errors'],
      ...['content.headers.MIME-Version', 'content.headers.Content-Transfer-Encoding', 'content.headers.Message-ID'],
    ],
  },
  {
    path: '/api/v1/transmissions',
    body: {
      recipients: [{ address: ada, substitution_data: { n: 'Ada' } }],
      content: { from: shop, template_id: 'words' },
      ...{ substitution_data: { m: 'b' }, options: { sandbox: true } },
    },
    ignored: [],
  },
  {
    path: '/api/v1/transmissions',
    body: {
      recipients: [{ address: { email: ada, name: 'Ada' }, tags: ['order'] }],
      content: { email_rfc822: `From: ${shop}\r\nTo: ${ada}\r\nSubject: Hi\r\n\r\nHi {{n}}\r\n` },
      ...{ substitution_data: { n: 'all' }, options: { perform_substitutions: false } },
    },
    ignored: ['substitution_data', 'recipients[0].address.name'],
  },
]
