/** Replacements for message parsers. */
import type { MessageReader, ReadResult, WaitingMessage } from '#core/capture/reading/message-reader.ts'
import type { MessageRewriter } from '#core/tracking/rewriter.ts'

/** Reads nothing out of a message. */
export class NoReader implements MessageReader {
  addresses: readonly string[] = []
  reads = 0

  async read(message: WaitingMessage): Promise<ReadResult> {
    this.reads++
    const [, subject = ''] = /^Subject: (.*)$/im.exec(Buffer.from(await message.read()).toString()) ?? []
    const read = { subject, from: [], to: [], cc: [], bcc: [], replyTo: [], headers: [], text: '', html: '', attachments: [] }
    const document = { html: '', styles: '', root: {}, body: {} }
    return { ok: true, message: { ...read, document, notes: [], addressesSeen: this.addresses } }
  }

  expect(): () => void {
    return () => {}
  }

  attachment(): Promise<undefined> {
    return Promise.resolve(undefined)
  }

  [Symbol.asyncDispose](): Promise<void> {
    return Promise.resolve()
  }
}

/** Rewrites nothing. */
export const noRewriter: MessageRewriter = {
  rewrite: () => Promise.resolve({ ok: false, reason: 'failed' }),
  [Symbol.asyncDispose]: () => Promise.resolve(),
}
