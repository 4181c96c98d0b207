/** Requests to Postmark with all fields. */
import { ada, bob, eva, file, help, html, shop, wholeHeader, type FullRequest } from './full-request.ts'

const fields = (map: object) => Object.entries(map).map(([Name, Value]) => ({ Name, Value: String(Value) }))

export const postmark: readonly FullRequest[] = [
  {
    path: '/email',
    body: {
      ...{ From: `"Shop, Zoë" <${shop}>`, To: `"Ada, L." <${ada}>`, Cc: bob, Bcc: eva, ReplyTo: help, Subject: 'Order' },
      ...{ HtmlBody: html, TextBody: 'Hi', Tag: 'order', Metadata: { order: '4711' }, MessageStream: 'broadcast' },
      ...{ TrackOpens: true, TrackLinks: 'HtmlAndText', InlineCss: true },
      Headers: fields({ ...wholeHeader, 'X-PM-Tag': 'other' }),
      Attachments: [{ Name: 'a.bin', Content: file, ContentType: 'text/csv', ContentID: 'cid:a@b', ContentLength: 4 }],
      TemplateModel: { n: 1 },
    },
    ignored: [
      ...['TemplateModel', 'InlineCss', 'Attachments[].ContentLength', 'Headers.MIME-Version', 'Headers.Content-Transfer-Encoding'],
      ...['Headers.Message-ID', 'Headers.X-PM-Tag'],
    ],
  },
  {
    path: '/email/withTemplate',
    body: { From: shop, To: ada, TemplateAlias: 'word', TemplateId: 12, TemplateModel: { n: 'Ada' } },
    ignored: ['TemplateId'],
  },
  {
    path: '/email',
    body: { From: shop, To: ada, TextBody: 'Hi', Headers: fields({ 'Message-ID': '<own.1@mail.example.ch>', 'X-PM-KeepID': 'true' }) },
    ignored: [],
  },
]
