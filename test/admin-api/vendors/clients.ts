/** The official clients of nine services. Each sends the same mail in its own format; only the address and the key are changed. */
import { BrevoClient } from '@getbrevo/brevo'
import { SendEmailCommand, SESv2Client } from '@aws-sdk/client-sesv2'
import sendgridMail from '@sendgrid/mail'
import Mailgun from 'mailgun.js'
import { Attachment, EmailParams, MailerSend, Recipient, Sender } from 'mailersend'
import Mailjet from 'node-mailjet'
import { Models, ServerClient } from 'postmark'
import { Resend } from 'resend'
import SparkPost from 'sparkpost'

/** The mail that every client sends. */
export interface Mail {
  readonly from: { readonly email: string; readonly name: string }
  readonly to: { readonly email: string; readonly name: string }
  readonly cc: string
  readonly bcc: string
  readonly replyTo: string
  readonly subject: string
  readonly text: string
  readonly html: string
  readonly file: { readonly name: string; readonly type: string; readonly content: Buffer }
  readonly image: { readonly name: string; readonly type: string; readonly content: Buffer; readonly cid: string }
  readonly tag: string
  /** Without the file and the image. */
  readonly isBare?: boolean
  /** Header fields of a whole mail object, in addition to the common one. */
  readonly headers?: Readonly<Record<string, string>>
}

/** Sends the mail and returns the id for the client. Rejects with the client's own error. */
export type Send = (address: string, key: string, mail: Mail) => Promise<string>

const unlessBare = <T>({ isBare }: Mail, files: T[]): T[] => (isBare ? [] : files)
const base64 = ({ content }: { readonly content: Buffer }): string => content.toString('base64')
const headersOf = ({ headers }: Mail): Record<string, string> => ({ 'X-Order': '4711', ...headers })
const headerList = (mail: Mail) => Object.entries(headersOf(mail)).map(([name, value]) => ({ name, value }))
const named = ({ email, name }: Mail['from']): string => `"${name}" <${email}>`

const resend: Send = async (address, key, mail) => {
  const { data, error } = await new Resend(key, { baseUrl: address }).emails.send({
    ...{ from: named(mail.from), to: named(mail.to), cc: mail.cc, bcc: [mail.bcc], replyTo: mail.replyTo },
    ...{ subject: mail.subject, text: mail.text, html: mail.html, headers: headersOf(mail) },
    tags: [{ name: 'kind', value: mail.tag }],
    attachments: unlessBare(mail, [
      { filename: mail.file.name, content: mail.file.content, contentType: mail.file.type },
      { filename: mail.image.name, content: base64(mail.image), contentType: mail.image.type, contentId: mail.image.cid },
    ]),
  })
  if (error) throw Object.assign(new Error(error.message), error)
  return data.id
}

const sendgrid: Send = async (address, key, mail) => {
  sendgridMail.setApiKey(key)
  const { client } = sendgridMail as unknown as { client: { setDefaultRequest(name: string, value: string): void } }
  client.setDefaultRequest('baseUrl', address)
  const [response] = await sendgridMail.send({
    ...{ from: mail.from, to: mail.to, cc: mail.cc, bcc: mail.bcc, replyTo: mail.replyTo },
    ...{ subject: mail.subject, text: mail.text, html: mail.html, headers: headersOf(mail) },
    categories: [mail.tag],
    attachments: unlessBare(mail, [
      { filename: mail.file.name, content: base64(mail.file), type: mail.file.type, disposition: 'attachment' },
      // in the wire format, since the client does not rename fields of lists
      { filename: mail.image.name, content: base64(mail.image), type: mail.image.type, disposition: 'inline', content_id: mail.image.cid },
    ] as { content: string; filename: string; type: string; disposition: string }[]),
  })
  return String(response.headers['x-message-id'])
}

const postmark: Send = async (address, key, mail) => {
  const { host } = new URL(address)
  const client = new ServerClient(key, { requestHost: host, useHttps: false })
  const { MessageID } = await client.sendEmail({
    ...{ From: named(mail.from), To: named(mail.to), Cc: mail.cc, Bcc: mail.bcc, ReplyTo: mail.replyTo },
    ...{ Subject: mail.subject, TextBody: mail.text, HtmlBody: mail.html, Tag: mail.tag },
    Headers: headerList(mail).map(({ name, value }) => new Models.Header(name, value)),
    Attachments: unlessBare(mail, [
      new Models.Attachment(mail.file.name, base64(mail.file), mail.file.type),
      new Models.Attachment(mail.image.name, base64(mail.image), mail.image.type, `cid:${mail.image.cid}`),
    ]),
  })
  return MessageID
}

const mailgun: Send = async (address, key, mail) => {
  const client = new Mailgun(FormData).client({ username: 'api', key, url: address })
  const { id = '' } = await client.messages.create('example.ch', {
    ...{ from: named(mail.from), to: [named(mail.to)], cc: mail.cc, bcc: mail.bcc, 'h:Reply-To': mail.replyTo },
    ...{ subject: mail.subject, text: mail.text, html: mail.html, 'o:tag': [mail.tag] },
    ...Object.fromEntries(headerList(mail).map(({ name, value }) => [`h:${name}`, value])),
    attachment: unlessBare(mail, [{ data: mail.file.content, filename: mail.file.name, contentType: mail.file.type }]),
    inline: unlessBare(mail, [{ data: mail.image.content, filename: mail.image.cid, contentType: mail.image.type }]),
  })
  return id.replace(/^<|@.*$/g, '')
}

const brevo: Send = async (address, key, mail) => {
  const { messageId = '' } = await new BrevoClient({ apiKey: key, baseUrl: `${address}/v3` }).transactionalEmails.sendTransacEmail({
    ...{ sender: mail.from, to: [mail.to], cc: [{ email: mail.cc }], bcc: [{ email: mail.bcc }], replyTo: { email: mail.replyTo } },
    ...{ subject: mail.subject, textContent: mail.text, htmlContent: mail.html, headers: headersOf(mail), tags: [mail.tag] },
    attachment: unlessBare(mail, [mail.file, mail.image]).map((file) => ({ name: file.name, content: base64(file) })),
  })
  return messageId.replace(/^<|@.*$/g, '')
}

const mailersend: Send = async (address, key, mail) => {
  const client = new MailerSend({ apiKey: key })
  Object.assign(client.email, { baseUrl: `${address}/v1` })
  const params = new EmailParams()
    .setFrom(new Sender(mail.from.email, mail.from.name))
    .setTo([new Recipient(mail.to.email, mail.to.name)])
    .setCc([new Recipient(mail.cc)])
    .setBcc([new Recipient(mail.bcc)])
    .setReplyTo(new Recipient(mail.replyTo))
    .setSubject(mail.subject)
    .setText(mail.text)
    .setHtml(mail.html)
    .setTags([mail.tag])
    .setHeaders(headerList(mail))
    .setAttachments(
      unlessBare(mail, [
        new Attachment(base64(mail.file), mail.file.name, 'attachment'),
        new Attachment(base64(mail.image), mail.image.name, 'inline', mail.image.cid),
      ]),
    )
  const { headers } = await client.email.send(params)
  return String(headers['x-message-id'])
}

const sparkpost: Send = async (address, key, mail) => {
  const { results } = await new SparkPost(key, { origin: address }).transmissions.send({
    recipients: [{ address: mail.to, tags: [mail.tag] }],
    ...{ cc: [{ address: mail.cc }], bcc: [{ address: mail.bcc }] },
    content: {
      ...{ from: mail.from, reply_to: mail.replyTo, subject: mail.subject, text: mail.text, html: mail.html },
      headers: headersOf(mail),
      attachments: unlessBare(mail, [{ name: mail.file.name, type: mail.file.type, data: base64(mail.file) }]),
      inline_images: unlessBare(mail, [{ name: mail.image.cid, type: mail.image.type, data: base64(mail.image) }]),
    },
  })
  return results.id
}

const mailjet: Send = async (address, key, mail) => {
  const client = new Mailjet.Client({ apiKey: key, apiSecret: key, config: { host: new URL(address).host } })
  const request = client.post('send', { version: 'v3.1' })
  // the client hard-codes https, and the test server has no TLS
  Object.assign(request.constructor, { protocol: 'http://' })
  const person = ({ email, name }: Mail['to']) => ({ Email: email, Name: name })
  const file = ({ name, type, ...rest }: Mail['file']) => ({ Filename: name, ContentType: type, Base64Content: base64(rest) })
  const { body } = await request.request({
    Messages: [
      {
        ...{ From: person(mail.from), To: [person(mail.to)], Cc: [{ Email: mail.cc }], Bcc: [{ Email: mail.bcc }] },
        ...{ ReplyTo: { Email: mail.replyTo }, Subject: mail.subject, TextPart: mail.text, HTMLPart: mail.html },
        ...{ Headers: headersOf(mail), CustomCampaign: mail.tag, Attachments: unlessBare(mail, [file(mail.file)]) },
        InlinedAttachments: unlessBare(mail, [{ ...file(mail.image), ContentID: mail.image.cid }]),
      },
    ],
  })
  return String((body as { Messages: { To: { MessageUUID: string }[] }[] }).Messages[0]?.To[0]?.MessageUUID)
}

const ses: Send = async (address, key, mail) => {
  const client = new SESv2Client({
    endpoint: address,
    region: 'eu-central-1',
    credentials: { accessKeyId: key, secretAccessKey: key },
    maxAttempts: 1,
  })
  const { MessageId } = await client.send(
    new SendEmailCommand({
      FromEmailAddress: named(mail.from),
      Destination: { ToAddresses: [named(mail.to)], CcAddresses: [mail.cc], BccAddresses: [mail.bcc] },
      ReplyToAddresses: [mail.replyTo],
      EmailTags: [{ Name: 'kind', Value: mail.tag }],
      Content: {
        Simple: {
          Subject: { Data: mail.subject },
          Body: { Text: { Data: mail.text }, Html: { Data: mail.html } },
          Headers: headerList(mail).map(({ name, value }) => ({ Name: name, Value: value })),
          Attachments: unlessBare(mail, [
            { FileName: mail.file.name, RawContent: mail.file.content, ContentType: mail.file.type },
            {
              FileName: mail.image.name,
              RawContent: mail.image.content,
              ContentType: mail.image.type,
              ContentId: mail.image.cid,
              ContentDisposition: 'INLINE',
            },
          ]),
        },
      },
    }),
  )
  return MessageId ?? ''
}

/** Clients by service name. */
export const clients: Readonly<Record<string, Send>> = { resend, sendgrid, postmark, mailgun, brevo, mailersend, sparkpost, mailjet, ses }
