/** Multipart forms (RFC 7578), read as a stream: fields are collected within limits, and each file is passed on as a stream. */
import type { Readable } from 'node:stream'
import { Busboy } from '@fastify/busboy'

type Parts = InstanceType<typeof Busboy>

export interface MultipartFile {
  readonly key: string
  /** The name as sent; empty if no file was chosen. */
  readonly name: string
  /** The type as sent; empty if it is missing. */
  readonly type: string
  readonly octets: AsyncIterable<Buffer>
}

export interface MultipartHandlers {
  /** Called for one file at a time. Must read the file to its end or throw. */
  readonly file: (file: MultipartFile) => Promise<void>
  /** Called with the keys of files beyond the limit, after the other files. */
  readonly filesBeyond: (keys: readonly string[]) => void
  /** Called if there are too many or too long fields. Throws the refusal, or lets the reader discard the remaining fields. */
  readonly tooLong: () => void
  /** Throws the refusal of an invalid body. */
  readonly broken: (cause?: unknown) => never
}

export interface MultipartLimits {
  readonly fields: number
  /** Octets of all fields together. */
  readonly fieldBytes: number
  readonly files: number
  readonly fileBytes: number
  /** Keys of parts that are always fields, even if they declare a file. */
  readonly alwaysFields: ReadonlySet<string>
}

const maxHeaderPairs = 20
const maxHeaderBytes = 8192
/** Maximum number of reported files beyond the limit. */
const maxBeyond = 20

/** Returns the fields in their order. */
export async function readMultipart(
  bytes: AsyncIterable<Uint8Array> | readonly Uint8Array[],
  contentType: string,
  limits: MultipartLimits,
  handlers: MultipartHandlers,
): Promise<readonly (readonly [string, string])[]> {
  const reading = new Reading(contentType, limits, handlers)
  try {
    for await (const chunk of bytes) {
      await reading.write(chunk)
      reading.check()
    }
    await reading.end()
    reading.check()
    return reading.fields
  } finally {
    await reading.close()
  }
}

const cut = (): Error => new Error('unread parts of the body are discarded')

class Reading {
  readonly fields: (readonly [string, string])[] = []
  readonly #busboy: Parts
  readonly #limits: MultipartLimits
  readonly #handlers: MultipartHandlers
  readonly #fileKeys: string[] = []
  readonly #streams = new Set<Readable>()
  #files: Promise<void> = Promise.resolve()
  #fieldBytes = 0
  #isTooLong = false
  #failure: { readonly cause: unknown; readonly isOurs: boolean } | undefined
  #onFailure = (): void => undefined

  constructor(contentType: string, limits: MultipartLimits, handlers: MultipartHandlers) {
    this.#limits = limits
    this.#handlers = handlers
    this.#busboy = this.#open(contentType)
    this.#busboy.on('error', (cause) => this.#fail(cause, false))
    this.#busboy.on('fieldsLimit', () => (this.#isTooLong = true))
    this.#busboy.on('partsLimit', () => (this.#isTooLong = true))
    this.#busboy.on('field', (key: string | undefined, value, _, isCut) => {
      if (key === undefined) return
      if (this.#isTooLong) return
      const room = limits.fieldBytes - this.#fieldBytes
      this.#fieldBytes += Buffer.byteLength(key) + Buffer.byteLength(value)
      this.#isTooLong = isCut || this.#fieldBytes > limits.fieldBytes
      this.fields.push([key, this.#isTooLong ? value.slice(0, room) : value])
    })
    this.#busboy.on('file', (key: string | undefined, stream, name: string | undefined, _, type: string | undefined) => {
      this.#streams.add(stream.on('error', (cause) => this.#fail(cause, false)).on('close', () => this.#streams.delete(stream)))
      // a reader that stops throws its own error; ending the stream here would report a broken body
      const octets = { [Symbol.asyncIterator]: () => stream.iterator({ destroyOnReturn: false }) as AsyncIterator<Buffer> }
      const file = { key: key ?? '', name: name ?? '', type: type ?? '', octets }
      this.#files = this.#files
        .then(() => (this.#failure ? undefined : handlers.file(file)))
        .catch((cause: unknown) => this.#fail(cause, true))
    })
  }

  /** Resolves when the parser accepts more. */
  async write(chunk: Uint8Array): Promise<void> {
    if (this.#failure) return
    await this.#until((done) => this.#busboy.write(chunk, () => done()))
  }

  async end(): Promise<void> {
    await this.#until((done) => this.#busboy.once('finish', done).end())
    await this.#files
    const beyond = this.#fileKeys.slice(this.#limits.files, this.#limits.files + maxBeyond)
    if (beyond.length > 0) this.#handlers.filesBeyond(beyond)
  }

  /** Throws the first failure, if there is one. */
  check(): void {
    if (this.#failure?.isOurs) throw this.#failure.cause
    if (this.#failure) this.#handlers.broken(this.#failure.cause)
    if (this.#isTooLong) this.#handlers.tooLong()
  }

  /** Discards unread data. Resolves when the current file handler has ended. */
  async close(): Promise<void> {
    for (const stream of this.#streams) stream.destroy(cut())
    this.#busboy.destroy()
    await this.#files
  }

  #open(contentType: string): Parts {
    const { fields, fieldBytes, files, fileBytes, alwaysFields } = this.#limits
    try {
      return new Busboy({
        headers: { 'content-type': contentType },
        limits: {
          ...{ fields, fieldSize: fieldBytes, files, parts: fields + files + maxBeyond },
          ...{ fileSize: fileBytes + 1, headerPairs: maxHeaderPairs, headerSize: maxHeaderBytes },
        },
        isPartAFile: (key = '', type, name) => {
          const isFile = !alwaysFields.has(key) && (name !== undefined || type === 'application/octet-stream')
          if (isFile && this.#fileKeys.length < files + maxBeyond) this.#fileKeys.push(key)
          return isFile
        },
      })
    } catch (cause) {
      return this.#handlers.broken(cause)
    }
  }

  #fail(cause: unknown, isOurs: boolean): void {
    this.#failure ??= { cause, isOurs }
    this.#onFailure()
  }

  #until(begin: (done: () => void) => void): Promise<void> {
    return new Promise((resolve) => {
      this.#onFailure = resolve
      begin(resolve)
    })
  }
}
