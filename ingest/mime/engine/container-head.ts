/**
 * Finds in a part's header whether the part contains parts. It reads the header like mailparser, because mailparser determines the
 * structure.
 */
import { parametersOf, parameterText } from './parameters.ts'

export interface ContainerHead {
  /** Empty if the boundary is missing or the type has no parts. */
  readonly boundary: string
  readonly isMultipart: boolean
  /** An embedded message that mailparser opens; its header follows directly. */
  readonly isMessage: boolean
}

/** `head` has one character for each octet. */
export function containerHead(head: string): ContainerHead {
  const lines = head.replaceAll(/\r?\n[ \t]/g, ' ')
  const contentType = fieldOf(lines, 'content-type')
  const isMessage = /^\s*message\/rfc822\s*(?:;|$)/i.test(contentType)
  return {
    boundary: isOtherType(contentType) ? '' : boundaryIn(contentType),
    isMultipart: /^\s*multipart\s*\//i.test(contentType),
    isMessage:
      isMessage &&
      /^\s*inline\s*(?:;|$)/i.test(fieldOf(lines, 'content-disposition')) &&
      /^\s*(?:(?:7bit|8bit|binary)\s*)?$/i.test(fieldOf(lines, 'content-transfer-encoding')),
  }
}

function boundaryIn(contentType: string): string {
  const parameters = parametersOf(contentType)
  return parameters.get('boundary') ?? parameterText(parameters, 'boundary')
}

/** Reports whether a Content-Type value names a type without parts. A value without a slash may be a multipart. */
export const isOtherType = (value: string): boolean => /^\s*(?!multipart\b)[\w.+-]+\/[\w.+-]+\s*(?:;|$)/i.test(value)

/** The value of the first field with that name. */
function fieldOf(lines: string, name: string): string {
  return new RegExp(String.raw`^${name}[ \t]*:([^\n]*)`, 'im').exec(lines)?.[1]?.trim() ?? ''
}
