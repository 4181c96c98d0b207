/** Requests to Mailjet with all fields. */
import { ada, bob, eva, file, help, html, shop, wholeHeader, type FullRequest } from './full-request.ts'

const one = (Email: string, Name: string) => ({ Email, Name })

export const mailjet: readonly FullRequest[] = [
  {
    path: '/v3.1/send',
    body: {
      Messages: [
        {
          ...{ From: one(shop, 'Shop'), To: [one(ada, 'Ada')], Cc: [one(bob, 'Bob')], Bcc: [{ Email: eva }], ReplyTo: one(help, 'Help') },
          ...{ Subject: 'Order {{var:n}}', TextPart: 'Hi', HTMLPart: html, TemplateLanguage: true, Variables: { n: '4711' } },
          Headers: { ...wholeHeader, 'X-MJ-EventPayload': 'payload', 'X-Mailjet-Prio': '2' },
          Attachments: [{ Filename: 'a.bin', ContentType: 'text/csv', Base64Content: file }],
          InlinedAttachments: [{ Filename: 'b.bin', ContentType: 'image/png', Base64Content: file, ContentID: 'a@b' }],
          ...{ TrackOpens: 'enabled', TrackClicks: 'enabled', CustomID: 'order-4711', CustomCampaign: 'spring', Priority: 2 },
          TemplateErrorReporting: one(help, 'Help'),
        },
      ],
      Globals: { Subject: 'Hi', Priority: 1 },
      AdvanceErrorHandling: true,
    },
    ignored: [
      ...['AdvanceErrorHandling', 'Globals.Subject', 'Globals.Priority', 'Messages[0].Priority', 'Messages[0].TemplateErrorReporting'],
      ...['Messages[0].Headers.MIME-Version', 'Messages[0].Headers.Content-Transfer-Encoding', 'Messages[0].Headers.Message-ID'],
      'Messages[0].Headers.X-Mailjet-Prio',
    ],
  },
  {
    path: '/v3.1/send',
    body: {
      Messages: [{ From: { Email: shop }, To: [{ Email: ada }], TemplateID: 'word', Variables: { n: 'Ada' }, EventPayload: 'payload' }],
      SandboxMode: true,
    },
    ignored: [],
  },
]
