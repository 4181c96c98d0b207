/** Events in the format of Mailgun: `event-data`, and a signature over a timestamp and a token. */
import { createHmac, randomBytes } from 'node:crypto'
import { domainOf, failureOf, messageEvents, seconds, wrappedId, type Format, type FormatEndpoint, type FormatEvent } from './format.ts'

export const mailgun: Format = {
  says: messageEvents,
  write(event, endpoint) {
    const timestamp = String(seconds(endpoint.at))
    const token = randomBytes(25).toString('hex')
    const signature = createHmac('sha256', endpoint.secret)
      .update(timestamp + token)
      .digest('hex')
    return { body: JSON.stringify({ signature: { token, timestamp, signature }, 'event-data': said(event, endpoint) }) }
  },
}

function said(event: FormatEvent, endpoint: FormatEndpoint): object {
  const { id, type, occurredAt, data, message } = event
  const common = {
    ...{ id, timestamp: occurredAt / 1000, recipient: data.recipient, 'recipient-domain': domainOf(data.recipient) },
    message: {
      headers: { to: data.recipient, 'message-id': wrappedId(event, endpoint), from: message.from, subject: message.subject },
      attachments: [],
    },
    envelope: { sender: message.mailFrom, targets: data.recipient, transport: 'smtp' },
    flags: { 'is-routed': false, 'is-authenticated': true, 'is-system-test': false, 'is-test-mode': false },
    ...{ tags: data.tags, campaigns: [], 'user-variables': data.metadata },
  }
  if (type === 'complained') return { event: 'complained', 'log-level': 'warn', ...common }
  const { reply } = data
  if (type === 'delivered') {
    const status = { code: reply?.code ?? 250, message: reply?.text ?? 'OK', description: data.reason ?? '', 'attempt-no': 1 }
    return { event: 'delivered', 'log-level': 'info', ...common, 'delivery-status': status }
  }
  const { kind, code, status, text, server } = failureOf(event)
  const isHard = kind === 'hard'
  return {
    event: 'failed',
    'log-level': isHard ? 'error' : 'warn',
    severity: isHard ? 'permanent' : 'temporary',
    reason: isHard ? 'bounce' : 'generic',
    ...common,
    'delivery-status': {
      ...{ code: code ?? (isHard ? 550 : 450), message: text, description: data.reason ?? '', 'attempt-no': 1 },
      ...(status !== undefined && { 'enhanced-code': status }),
      ...(server !== undefined && { 'mx-host': server }),
    },
  }
}
