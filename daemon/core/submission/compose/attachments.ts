/** The files of a send: as a caller gives them, and as the message has them, with names and types that hold everywhere. */
import { distinctNames, safeFilename } from '#config/mail/file-names.ts'
import { octetStream, typeOfName } from '#config/mail/media-types.ts'
import { invalid, type FieldProblem } from '../../refusals.ts'
import type { Steps } from '../../event-loop.ts'
import { Base64File } from './base64.ts'

/** The most files of one message. */
export const maxAttachments = 100

/** A file as a caller gives it. */
export interface GivenAttachment {
  /** Any text, or none. */
  readonly filename: string | undefined
  /** RFC 2045 §5.1; found by the name when there is none, an empty one, or the one of octets that can be anything. */
  readonly contentType: string | undefined
  readonly content: Base64File
  /** Given for inline files that the HTML refers to by `cid:`; without angle brackets. */
  readonly contentId: string | undefined
  /** RFC 2183 §2; without it, the file is inline where it has a content id, unless it is a text or a message. */
  readonly disposition?: 'inline' | 'attachment' | undefined
}

/** A file whose base64 has not been checked yet, because it is large. Octets are a text in ISO 8859-1; see `Base64File.parse`. */
export interface UncheckedAttachment extends Omit<GivenAttachment, 'content'> {
  readonly content: Base64File | { readonly unchecked: string | Uint8Array }
}

/** Looks at the base64 of large files, in steps. Throws `validation_failed`, naming `attachments[…]`. */
export function* checkingFiles(given: readonly UncheckedAttachment[]): Steps<readonly GivenAttachment[]> {
  const problems: FieldProblem[] = []
  const files: GivenAttachment[] = []
  for (const [i, file] of given.entries()) {
    const content = 'unchecked' in file.content ? yield* Base64File.parsing(file.content.unchecked) : file.content
    if ('fault' in content) problems.push({ path: `attachments[${i}].content`, message: content.fault })
    else files.push({ ...file, content })
  }
  if (problems.length > 0) throw invalid(problems)
  return files
}

/** A file as the message has it. */
export interface Attachment extends GivenAttachment {
  /** Harmless (`config/mail/file-names.ts`), and in its message the only one of this name. */
  readonly filename: string
  /** The type in lower case, and its parameters but the name. */
  readonly contentType: string
}

// RFC 6838 §4.2 for the type, RFC 2045 §5.1 for its parameters: a token each, or a text in quotes.
const restrictedName = /^[\w!#$&^.+-]{1,127}\/[\w!#$&^.+-]{1,127}$/
const parameter = /; *([\w!#$&*+.^`{|}~-]{1,64})=([\w!#$%&'*+.^`{|}~/-]{1,128}|"[ !#-[\]-~]{0,128}") */y
const maxTypeLength = 512

/** Makes them fit for a message. Throws `validation_failed`, naming `attachments[…]`, for too many and for types that no file can have. */
export function attachmentsOf(given: readonly GivenAttachment[]): readonly Attachment[] {
  if (given.length > maxAttachments)
    throw invalid([{ path: 'attachments', message: `at most ${maxAttachments} files in one message; this one has ${given.length}` }])
  const problems: FieldProblem[] = []
  const files = given.map((file, i) => {
    const type = parsedType(file.contentType?.trim() || octetStream)
    if (typeof type === 'string') problems.push({ path: `attachments[${i}].content_type`, message: type })
    const { essence, parameters } = typeof type === 'string' ? { essence: octetStream, parameters: '' } : type
    const filename = safeFilename(file.filename, essence)
    return { ...file, filename, contentType: essence === octetStream ? typeOfName(filename) : essence + parameters }
  })
  if (problems.length > 0) throw invalid(problems)
  const names = distinctNames(files.map(({ filename }) => filename))
  return files.map((file, i) => ({ ...file, filename: names[i] ?? file.filename }))
}

/** The type apart from its parameters, or what is wrong with it. */
function parsedType(given: string): { readonly essence: string; readonly parameters: string } | string {
  const malformed = 'must be a media type such as application/pdf'
  const end = given.includes(';') ? given.indexOf(';') : given.length
  const essence = given.slice(0, end).trimEnd().toLowerCase()
  if (given.length > maxTypeLength || !restrictedName.test(essence)) return malformed
  // These are no files but structure (RFC 2046 §5), and must not be encoded; a message can be a file, and goes as it is.
  if (/^(?:multipart|message)\//.test(essence) && essence !== 'message/rfc822')
    return `must not be ${essence}, which describes structure, not a file; use application/octet-stream, or message/rfc822 for a whole message`
  const parameters = new Map<string, string>()
  for (let at = end; at < given.length; at = parameter.lastIndex) {
    parameter.lastIndex = at
    const [, name = '', value = ''] = parameter.exec(given) ?? []
    if (name === '') return malformed
    parameters.set(name.toLowerCase(), value.includes('/') && !value.startsWith('"') ? `"${value}"` : value)
  }
  // The name is that of the file; what is split or has a language (RFC 2231) is not carried on.
  const kept = [...parameters].filter(([name]) => name !== 'name' && !name.includes('*'))
  return { essence, parameters: kept.map(([name, value]) => `; ${name}=${value}`).join('') }
}
