/** ntfy: a message published as JSON at the root of the server. */
import { alertText, blockOf } from './alert-text.ts'
import { jsonRequest, type WriteAlert } from './kind.ts'

export interface NtfyTarget {
  /** URL of the server. */
  readonly url: string
  readonly topic: string
  /** Access token; null for open topics. */
  readonly token: string | null
}

/** Servers cut messages above 4,096 bytes, or turn them into attachments. */
const maxBytes = 3500
const maxTitleBytes = 200
const bytesOf = (text: string): number => Buffer.byteLength(text)
const priorities = { error: 5, warning: 3, over: 2, test: 3 } as const

export const ntfy: WriteAlert<NtfyTarget> = ({ event, language }, { url, topic, token }) => {
  const { title, forms, url: link, level } = alertText(event, language)
  const body = {
    ...{ topic, title: blockOf([[title]], '', maxTitleBytes, bytesOf) },
    message: blockOf(forms(), '', maxBytes - maxTitleBytes, bytesOf),
    ...{ priority: priorities[level], click: link },
  }
  return jsonRequest(url, body, token === null ? {} : { authorization: `Bearer ${token}` })
}
