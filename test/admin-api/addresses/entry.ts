/** An entry point for addresses. */
import { trimInvisible } from '#config/mail/invisible.ts'
import type { RestClient } from '../../support/daemon/rest.ts'

export interface Entry {
  /** Normalizes an input as the entry point does before validation. */
  readonly clean: (text: string) => string
  /** False if refusals of the entry point have no reason in words. */
  readonly tells?: false
  /** Returns the text of the refusal, or undefined if the input is accepted. */
  readonly ask: (text: string) => Promise<string | undefined>
}

type Content = object | { readonly bytes: Buffer; readonly contentType: string }
export type Calls = (path: string, bodyOf: (text: string) => Content | Promise<Content>, changes?: Changes) => Entry
interface Changes {
  readonly method?: 'PUT' | 'PATCH'
  readonly clean?: Entry['clean']
  readonly headers?: Readonly<Record<string, string>>
}

/** Entry points over HTTP. A 409 conflict does not refuse the address. */
export const callsOf =
  (rest: RestClient): Calls =>
  (path, bodyOf, { method, clean = trimInvisible, headers: more } = {}) => ({
    clean,
    async ask(text) {
      const body = await bodyOf(text)
      const isRaw = 'bytes' in body
      const headers = isRaw ? { 'content-type': body.contentType, 'content-length': String(body.bytes.length) } : undefined
      const { status, bytes } = await rest.call(method ?? 'POST', path, isRaw ? body.bytes : body, { ...headers, ...more })
      return status < 300 || status === 409 ? undefined : bytes.toString().replaceAll('\\u200B', '\u200b')
    },
  })
