/** Files of a send: as given by the caller, and with the safe names and types used in the message. */
import { distinctNames, safeFilename } from '#config/mail/file-names.ts'
import { octetStream, typeOfName } from '#config/mail/media-types.ts'
import { invalid, type FieldProblem } from '../../refusals.ts'
import type { Steps } from '../../event-loop.ts'
import { Base64File } from './base64.ts'

/** Maximum number of files per message. */
export const maxAttachments = 100

/** A file as given by the caller. */
export interface GivenAttachment {
  /** Any text, or undefined. */
  readonly filename: string | undefined
  /** RFC 2045 §5.1. Derived from the filename if missing, empty or application/octet-stream. */
  readonly contentType: string | undefined
  readonly content: Base64File
  /** Content id of an inline file that the HTML refers to by `cid:`, without angle brackets. */
  readonly contentId: string | undefined
  /** RFC 2183 §2. By default inline if the file has a content id and is neither a text nor a message. */
  readonly disposition?: 'inline' | 'attachment' | undefined
}

/** A large file whose base64 has not been checked yet. Octets are ISO 8859-1 text; see `Base64File.parse`. */
export interface UncheckedAttachment extends Omit<GivenAttachment, 'content'> {
  readonly content: Base64File | { readonly unchecked: string | Uint8Array }
}

/** Checks the base64 of large files in steps. Throws `validation_failed`, naming `attachments[…]`. */
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

/** A file as used in the message. */
export interface Attachment extends GivenAttachment {
  /** Safe filename (`config/mail/file-names.ts`), unique in the message. */
  readonly filename: string
  /** Type in lower case with its parameters except the name. */
  readonly contentType: string
}

// RFC 6838 §4.2 for the type; RFC 2045 §5.1 for its parameters: tokens or quoted text.
const restrictedName = /^[\w!#$&^.+-]{1,127}\/[\w!#$&^.+-]{1,127}$/
const parameter = /; *([\w!#$&*+.^`{|}~-]{1,64})=([\w!#$%&'*+.^`{|}~/-]{1,128}|"[ !#-[\]-~]{0,128}") */y
const maxTypeLength = 512

/**
 * Gives files safe, unique names and checked types. Throws `validation_failed`, naming `attachments[…]`, for too many files and for invalid
 * types.
 */
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

/** Returns the type and its parameters, or an error text. */
function parsedType(given: string): { readonly essence: string; readonly parameters: string } | string {
  const malformed = 'must be a media type such as application/pdf'
  const end = given.includes(';') ? given.indexOf(';') : given.length
  const essence = given.slice(0, end).trimEnd().toLowerCase()
  if (given.length > maxTypeLength || !restrictedName.test(essence)) return malformed
  // These types describe structure (RFC 2046 §5) and must not be encoded. A message/rfc822 file is sent unencoded.
  if (/^(?:multipart|message)\//.test(essence) && essence !== 'message/rfc822')
    return `must not be ${essence}, which describes structure, not a file; use application/octet-stream, or message/rfc822 for a whole message`
  const parameters = new Map<string, string>()
  for (let at = end; at < given.length; at = parameter.lastIndex) {
    parameter.lastIndex = at
    const [, name = '', value = ''] = parameter.exec(given) ?? []
    if (name === '') return malformed
    parameters.set(name.toLowerCase(), value.includes('/') && !value.startsWith('"') ? `"${value}"` : value)
  }
  // Drops the name, which the filename replaces, and parameters in RFC 2231 format.
  const kept = [...parameters].filter(([name]) => name !== 'name' && !name.includes('*'))
  return { essence, parameters: kept.map(([name, value]) => `; ${name}=${value}`).join('') }
}
