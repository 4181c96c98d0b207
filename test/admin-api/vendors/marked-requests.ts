/** Requests with a variable to every service: in the mail itself, or in a template of the project. */

export const [ada, bob, from] = ['ada@example.net', 'bob@example.net', 'shop@example.ch']
export const one = (email: string) => ({ email })

export type Body = Readonly<Record<string, unknown>>

/** Paths at which each service accepts mail. */
export const paths = {
  ...{ resend: '/emails', sendgrid: '/v3/mail/send', postmark: '/email/withTemplate', mailgun: '/v3/example.ch/messages' },
  ...{ brevo: '/v3/smtp/email', mailersend: '/v1/email', sparkpost: '/api/v1/transmissions', mailjet: '/v3.1/send' },
  ...{ ses: '/v2/email/outbound-emails', bulkSes: '/v2/email/outbound-bulk-emails' },
} as const
const { resend, sendgrid, postmark, mailgun, brevo, mailersend, sparkpost, mailjet, ses } = paths

/** Parts of a mail without a template; each can hold a marker. */
export interface Marked {
  readonly subject: string
  readonly text: string
  readonly html: string
  readonly name: string
  readonly field: string
}

/** A service that fills in variables without a template. */
export interface Filling {
  readonly path: string
  /** Markers of the variable: `escaped` escapes it in HTML, `raw` does not. */
  readonly marker: { readonly escaped?: string; readonly raw?: string }
  /** The service also fills in the name of From and custom header fields; other services keep the marker. */
  readonly fillsHeader?: true
  readonly body: (marked: Marked, n: string) => Body
}

const mustache = { escaped: '{{n}}', raw: '{{{n}}}' }

export const filling: Readonly<Record<string, Filling>> = {
  SendGrid: {
    ...{ path: sendgrid, marker: { raw: '-n-' } },
    body: ({ subject, text, html, name, field }, n) => ({
      ...{ from: { email: from, name }, subject, headers: { 'X-N': field } },
      content: [
        { type: 'text/plain', value: text },
        { type: 'text/html', value: html },
      ],
      personalizations: [{ to: [one(ada)], substitutions: { '-n-': n } }],
    }),
  },
  Brevo: {
    ...{ path: brevo, marker: { escaped: '{{ params.n }}', raw: '{{ params.n | safe }}' } },
    body: ({ subject, text, html, name, field }, n) => ({
      ...{ sender: { email: from, name }, to: [one(ada)], subject, textContent: text, htmlContent: html },
      ...{ headers: { 'X-N': field }, params: { n } },
    }),
  },
  MailerSend: {
    ...{ path: mailersend, marker: mustache },
    body: ({ subject, text, html, name, field }, n) => ({
      ...{ from: { email: from, name }, to: [one(ada)], subject, text, html },
      ...{ headers: [{ name: 'X-N', value: field }], personalization: [{ email: ada, data: { n } }] },
    }),
  },
  SparkPost: {
    ...{ path: sparkpost, marker: mustache, fillsHeader: true },
    body: ({ subject, text, html, name, field }, n) => ({
      recipients: [{ address: ada, substitution_data: { n } }],
      content: { from: { email: from, name }, subject, text, html, headers: { 'X-N': field } },
    }),
  },
  Mailjet: {
    ...{ path: mailjet, marker: { raw: '{{var:n}}' } },
    body: ({ subject, text, html, name, field }, n) => ({
      Messages: [
        {
          ...{ From: { Email: from, Name: name }, To: [{ Email: ada }], Subject: subject, TextPart: text, HTMLPart: html },
          ...{ Headers: { 'X-N': field }, TemplateLanguage: true, Variables: { n } },
        },
      ],
    }),
  },
  Mailgun: {
    ...{ path: mailgun, marker: { raw: '%recipient.n%' } },
    body: ({ subject, text, html, name, field }, n) => ({
      ...{ from: `"${name}" <${from}>`, to: ada, subject, text, html, 'h:X-N': field },
      'recipient-variables': JSON.stringify({ [ada]: { n } }),
    }),
  },
  'Amazon SES': {
    ...{ path: ses, marker: { raw: '{{n}}' } },
    body: ({ subject, text, html, name, field }, n) => ({
      ...{ FromEmailAddress: `"${name}" <${from}>`, Destination: { ToAddresses: [ada] } },
      Content: {
        Template: {
          TemplateContent: { Subject: subject, Text: text, Html: html },
          ...{ Headers: [{ Name: 'X-N', Value: field }], TemplateData: JSON.stringify({ n }) },
        },
      },
    }),
  },
}

/** Requests with the template `word`, in the form of each service. */
export const templated: Readonly<Record<string, readonly [path: string, body: (n: string) => Body]>> = {
  Resend: [resend, (n) => ({ from, to: ada, template: { id: 'word', variables: { n } } })],
  SendGrid: [
    sendgrid,
    (n) => ({ from: one(from), template_id: 'd-word', personalizations: [{ to: [one(ada)], dynamic_template_data: { n } }] }),
  ],
  Postmark: [postmark, (n) => ({ From: from, To: ada, TemplateAlias: 'word', TemplateModel: { n } })],
  Mailgun: [mailgun, (n) => ({ from, to: ada, template: 'word', 't:variables': JSON.stringify({ n }) })],
  'Mailgun, of a recipient': [
    mailgun,
    (n) => ({ from, to: ada, template: 'word', 'recipient-variables': JSON.stringify({ [ada]: { n } }) }),
  ],
  'Mailgun, of all': [
    mailgun,
    (n) => ({
      ...{ from, to: ada, template: 'word', 'v:n': '%recipient.own%' },
      'recipient-variables': JSON.stringify({ [ada]: { own: n } }),
    }),
  ],
  'Mailgun, within JSON': [
    mailgun,
    (n) => ({
      ...{ from, to: ada, template: 'word', 't:variables': '{"n":"%recipient.n%"}' },
      'recipient-variables': JSON.stringify({ [ada]: { n } }),
    }),
  ],
  Brevo: [brevo, (n) => ({ sender: one(from), to: [one(ada)], templateId: 'word', params: { n } })],
  MailerSend: [
    mailersend,
    (n) => ({ from: one(from), to: [one(ada)], template_id: 'word', personalization: [{ email: ada, data: { n } }] }),
  ],
  SparkPost: [sparkpost, (n) => ({ recipients: [{ address: ada, substitution_data: { n } }], content: { from, template_id: 'word' } })],
  Mailjet: [mailjet, (n) => ({ Messages: [{ From: { Email: from }, To: [{ Email: ada }], TemplateID: 'word', Variables: { n } }] })],
  'Amazon SES': [
    ses,
    (n) => ({
      ...{ FromEmailAddress: from, Destination: { ToAddresses: [ada] } },
      Content: { Template: { TemplateName: 'word', TemplateData: JSON.stringify({ n }) } },
    }),
  ],
}
