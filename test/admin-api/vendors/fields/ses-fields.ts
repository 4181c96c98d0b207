/** Requests to Amazon SES with all fields. */
import { ada, bob, eva, file, help, html, shop, wholeHeader, type FullRequest } from './full-request.ts'

const fields = (map: object) => Object.entries(map).map(([Name, Value]) => ({ Name, Value: String(Value) }))

export const ses: readonly FullRequest[] = [
  {
    path: '/v2/email/outbound-emails',
    body: {
      ...{
        FromEmailAddress: `Shop <${shop}>`,
        ReplyToAddresses: [help],
        FeedbackForwardingEmailAddress: help,
        ConfigurationSetName: 'set',
      },
      Destination: { ToAddresses: [`Ada <${ada}>`], CcAddresses: [bob], BccAddresses: [eva] },
      EmailTags: [{ Name: 'kind', Value: 'order' }],
      Content: {
        Simple: {
          Subject: { Data: 'Order' },
          Body: { Text: { Data: 'Hi', Charset: 'ISO-8859-1' }, Html: { Data: html } },
          Headers: fields({ ...wholeHeader, 'X-SES-MESSAGE-TAGS': 'a=b' }),
          Attachments: [
            {
              FileName: 'a.bin',
              RawContent: file,
              ContentType: 'text/csv',
              ContentId: 'a@b',
              ContentDisposition: 'INLINE',
              ContentDescription: 'x',
            },
          ],
        },
      },
    },
    ignored: [
      ...['FeedbackForwardingEmailAddress', 'ConfigurationSetName', 'Content.Simple.Body.Text.Charset'],
      ...['Content.Simple.Attachments[].ContentDescription', 'Content.Simple.Headers.MIME-Version'],
      ...[
        'Content.Simple.Headers.Content-Transfer-Encoding',
        'Content.Simple.Headers.Message-ID',
        'Content.Simple.Headers.X-SES-MESSAGE-TAGS',
      ],
    ],
  },
  {
    path: '/v2/email/outbound-emails',
    body: {
      ...{
        FromEmailAddress: shop,
        Destination: { ToAddresses: [ada] },
        ListManagementOptions: { ContactListName: 'news', TopicName: 'a' },
      },
      Content: {
        Template: { TemplateName: 'word', TemplateContent: { Text: 'Hi' }, TemplateData: '{"n":"Ada"}', Headers: fields({ 'X-A': 'b' }) },
      },
    },
    ignored: ['Content.Template.TemplateContent', 'ListManagementOptions.TopicName'],
  },
  {
    path: '/v2/email/outbound-bulk-emails',
    body: {
      ...{ FromEmailAddress: shop, DefaultEmailTags: [{ Name: 'kind', Value: 'order' }] },
      DefaultContent: { Template: { TemplateName: 'words', TemplateData: '{"m":"all"}', Headers: fields({ 'X-A': 'b' }) } },
      BulkEmailEntries: [
        {
          Destination: { ToAddresses: [ada] },
          ReplacementEmailContent: { ReplacementTemplate: { ReplacementTemplateData: '{"n":"Ada"}' } },
          ...{ ReplacementHeaders: fields({ 'X-B': 'c' }), ReplacementTags: [{ Name: 'own', Value: 'a' }], Note: 'x' },
        },
      ],
    },
    ignored: ['BulkEmailEntries[0].Note'],
  },
]
