/**
 * Opens `winmail.dat`, the container that Outlook and Exchange use for files and bodies (TNEF, MS-OXTNEF). The sender controls its whole
 * content, so sizes, numbers and nesting are limited. An unreadable part does not affect the parts before it.
 */
import { decodeOctets } from '#config/mail/charset/decode-octets.ts'
import { unpackRtf } from './compressed-rtf.ts'
import { embedded, mapi, mapiProperties, unicode, type MapiProperties, type MapiValue } from './mapi-properties.ts'
import { OctetsReader } from './octets-reader.ts'

export interface TnefFile {
  readonly filename: string | undefined
  readonly contentType: string
  readonly contentId: string | undefined
  readonly location: string | undefined
  readonly octets: Buffer
}

export interface TnefContents {
  /** The decoded bodies; empty if the container has no body. */
  readonly text: string
  readonly html: string
  /** The files in order, including the files of embedded messages, followed by an RTF body as `message.rtf`. */
  readonly files: readonly TnefFile[]
  /** Part of the container is unreadable, or beyond a limit and omitted. */
  readonly isBroken: boolean
}

/** Larger containers are not opened. */
export const maxTnefOctets = 32 * 1024 * 1024
const maxFiles = 200
const maxNesting = 3
const maxRtfOctets = 8 * 1024 * 1024

const signature = 0x223e9f78
const attributes = {
  oemCodepage: 0x0006_9007,
  body: 0x0002_800c,
  messageProperties: 0x0006_9003,
  attachmentStart: 0x0006_9002,
  attachmentTitle: 0x0001_8010,
  attachmentData: 0x0006_800f,
  attachmentProperties: 0x0006_9005,
} as const

/** Recognizes a container by its type or name. */
export const isTnef = (contentType: string, filename: string | undefined): boolean =>
  /^application\/(?:vnd\.)?ms-tnef$/i.test(contentType.trim()) || /^winmail\.dat$/i.test(filename ?? '')

/** Opens a container. Undefined if the octets are not TNEF. Never throws. */
export function openTnef(octets: Buffer): TnefContents | undefined {
  if (octets.length < 6 || octets.readUInt32LE() !== signature) return undefined
  const container = new Container(maxFiles)
  container.read(octets, 1)
  return container.contents()
}

interface FileDraft {
  title: Buffer | undefined
  data: Buffer | undefined
  properties: MapiProperties['values']
}

/** One container and its embedded containers, with a common limit on files. */
class Container {
  readonly #files: TnefFile[] = []
  readonly #maxFiles: number
  #isBroken = false

  constructor(most: number) {
    this.#maxFiles = most
  }

  #text = ''
  #html = ''

  contents(): TnefContents {
    return { text: this.#text, html: this.#html, files: this.#files, isBroken: this.#isBroken }
  }

  read(octets: Buffer, nesting: number): void {
    const reader = new OctetsReader(octets)
    const message = { properties: new Map() as MapiProperties['values'], body: undefined as Buffer | undefined, charset: '' }
    let file: FileDraft | undefined
    const endFile = (): void => {
      if (file) this.#take(file, message.charset, nesting)
      file = undefined
    }
    try {
      reader.take(6)
      while (reader.left >= 9) {
        const level = reader.u8()
        if (level !== 1 && level !== 2) break // garbage after the last attribute is common
        const id = reader.u32()
        const data = reader.take(reader.u32())
        reader.take(Math.min(2, reader.left)) // the checksum, which some writers compute wrong
        if (id === attributes.oemCodepage && data.length >= 4) message.charset = charsetOf(data.readUInt32LE())
        else if (id === attributes.body) message.body = data
        else if (id === attributes.messageProperties) message.properties = this.#propertiesOf(data)
        else if (id === attributes.attachmentStart) {
          endFile()
          file = { title: undefined, data: undefined, properties: new Map() }
        } else if (file && id === attributes.attachmentTitle) file.title = data
        else if (file && id === attributes.attachmentData) file.data = data
        else if (file && id === attributes.attachmentProperties) file.properties = this.#propertiesOf(data)
      }
    } catch {
      this.#isBroken = true
    }
    endFile()
    this.#takeBodies(message, nesting)
  }

  #propertiesOf(data: Buffer): MapiProperties['values'] {
    const { values, isBroken } = mapiProperties(data)
    this.#isBroken ||= isBroken
    return values
  }

  #add(file: TnefFile): void {
    if (this.#files.length < this.#maxFiles) this.#files.push(file)
    else this.#isBroken = true
  }

  #take({ title, data, properties }: FileDraft, charset: string, nesting: number): void {
    const textOf = (id: number): string | undefined => textIn(properties.get(id), charset)
    const given = properties.get(mapi.attachData)
    const filename =
      textOf(mapi.attachLongFilename) ?? (title && decoded(title, charset)) ?? textOf(mapi.attachFilename) ?? textOf(mapi.displayName)
    // an object begins with its class ID of 16 octets
    const inside = given?.kind === embedded ? given.octets.subarray(16) : undefined
    if (inside && inside.length >= 6 && inside.readUInt32LE() === signature) {
      if (nesting < maxNesting) this.read(inside, nesting + 1)
      else this.#isBroken = true
      return
    }
    const octets = data ?? (given?.kind === embedded ? inside : given?.octets)
    if (!octets) return
    this.#add({
      filename: filename === '' ? undefined : filename,
      contentType: textOf(mapi.attachMimeType) ?? 'application/octet-stream',
      contentId: textOf(mapi.attachContentId),
      location: textOf(mapi.attachLocation),
      octets,
    })
  }

  /** The bodies of an embedded message become files, because only the outer message has displayed bodies. */
  #takeBodies({ properties, body, charset }: MessageDraft, nesting: number): void {
    const codepage = properties.get(mapi.internetCodepage)?.octets.readUInt32LE()
    const html = properties.get(mapi.html)
    const source = html ? textIn(html, codepage === undefined ? charset : charsetOf(codepage), true) : undefined
    const text = textIn(properties.get(mapi.body), charset) ?? (body && decoded(body, charset))
    const rtf = properties.get(mapi.rtf)
    const unpacked = rtf && unpackRtf(rtf.octets, maxRtfOctets)
    if (rtf && !unpacked) this.#isBroken = true
    if (nesting === 1) [this.#text, this.#html] = [text ?? '', source ?? '']
    else if (source !== undefined || text !== undefined) {
      const octets = Buffer.from(source ?? text ?? '')
      this.#add(bodyFile(textIn(properties.get(mapi.subject), charset), source === undefined ? 'txt' : 'html', octets))
    }
    if (unpacked && unpacked.length > 0) this.#add(bodyFile('message', 'rtf', unpacked))
  }
}

interface MessageDraft {
  readonly properties: MapiProperties['values']
  readonly body: Buffer | undefined
  readonly charset: string
}

const bodyTypes = { txt: 'text/plain; charset=utf-8', html: 'text/html; charset=utf-8', rtf: 'application/rtf' } as const

const bodyFile = (name: string | undefined, extension: keyof typeof bodyTypes, octets: Buffer): TnefFile => ({
  filename: `${name === undefined || name === '' ? 'message' : name}.${extension}`,
  contentType: bodyTypes[extension],
  contentId: undefined,
  location: undefined,
  octets,
})

function textIn(value: MapiValue | undefined, charset: string, isHtml = false): string | undefined {
  if (!value) return undefined
  return value.kind === unicode ? withoutEnd(value.octets.toString('utf16le')) : decoded(value.octets, charset, isHtml)
}

const decoded = (octets: Buffer, charset: string, isHtml = false): string => withoutEnd(decodeOctets(octets, charset, isHtml).text)

/** Cuts text at the first null character. */
function withoutEnd(text: string): string {
  const end = text.indexOf('\0')
  return end < 0 ? text : text.slice(0, end)
}

/** The charset of a Windows code page. The charset table knows most of them by number. */
const charsetOf = (codepage: number): string =>
  ({ 65001: 'utf-8', 20127: 'us-ascii', 1200: 'utf-16le', 50220: 'iso-2022-jp' })[codepage] ??
  (codepage >= 28591 && codepage <= 28605 ? `iso-8859-${codepage - 28590}` : `cp${codepage}`)
