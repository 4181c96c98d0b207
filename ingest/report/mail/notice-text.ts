/** Separates the text of a notice from the returned message, in reports that put both in one part. */
import { headerFields, type HeaderField } from '../../mime/header-fields.ts'

export interface NoticeText {
  /** The lines written by the reporting server. */
  readonly lines: readonly string[]
  /** The header of the returned message; empty if the text does not contain it. */
  readonly returned: readonly HeaderField[]
  /** All lines before the sentence that announces the returned message. */
  readonly beforeMark: readonly string[]
}

const maxText = 512 * 1024
const maxLine = 2000
const maxHeader = 64 * 1024
const rule = /^[\s\-=*|_>#+~]+|[\s\-=*|_<#+~:.]+$/g
const mark = new RegExp(
  [
    '^(?:the following |this is |here is |included is |below is |below this line is )?(?:a |the )?cop(?:y|ies) of (?:the|your|message|headers?)',
    '^(?:the |your |start of |begin )?(?:original|unsent|returned|undelivered|failed|rejected)[ -](?:message|mail|e-mail|email)(?: headers?| info(?:rmation)?| text)?(?: (?:follows|is following|starts?)\\b.*)?$',
    '^(?:the )?(?:message|mail|e-mail) (?:text|headers?|contents?|body)(?: of (?:the|your) .*)?(?: (?:is |are )?follow(?:s|ing)?.*)?$',
    '^(?:the )?headers? of (?:the )?(?:original|returned|undelivered) (?:message|mail).*',
    '^original (?:message )?headers?$|^rfc ?822 (?:message|header).*follows?$|^text of (?:your )?(?:original )?message follows',
    '^(?:the )?first \\d+ (?:bytes|lines) of (?:the|your)|^the (?:message|mail) (?:you sent|follows)|^returned mail follows',
    '^(?:元の|オリジナル|送信した)?(?:メール|メッセージ)(?:ヘッダー?|原文|の内容).*$|^原文$',
  ].join('|'),
  'iu',
)
/** Fields that begin a message, and that never begin a paragraph of a notice. */
const firstField =
  /^(?:received|return-path|dkim-signature|x-received|arc-seal|x-originating-ip|x-google-smtp-source|x-apparently-to|message-id|mime-version):/i
const anyField = /^[A-Za-z][\w-]{0,60}:|^[ \t]+\S/

/** Splits the decoded text of a notice. Removes `>` if most lines have it, as in forwarded notices. */
export function noticeText(text: string): NoticeText {
  const lines = unquoted(text.slice(0, maxText).split('\n')).map((line) => line.slice(0, maxLine))
  const said = lines.findIndex((line, at) => at > 0 && saysThatMessageFollows(line))
  const shown = lines.findIndex((line, at) => at > 0 && firstField.test(line) && isHeader(lines, at))
  const until = [said, shown].filter((at) => at >= 0)
  const end = until.length === 0 ? lines.length : Math.min(...until)
  const start = said >= 0 ? said + 1 : shown
  return {
    lines: lines.slice(0, end),
    returned: start < 0 ? [] : returnedHeader(lines.slice(start)),
    beforeMark: said < 0 ? lines : lines.slice(0, said),
  }
}

const saysThatMessageFollows = (line: string): boolean => {
  const plain = line.length > 120 ? '' : line.replaceAll(rule, '')
  return plain !== '' && mark.test(plain)
}

/** True if another field follows, which distinguishes a header from a line with a colon. */
const isHeader = (lines: readonly string[], at: number): boolean => anyField.test(lines[at + 1] ?? '')

function unquoted(lines: readonly string[]): readonly string[] {
  const filled = lines.filter((line) => line.trim() !== '')
  const quoted = filled.filter((line) => line.startsWith('>')).length
  return quoted * 2 > filled.length ? lines.map((line) => line.replace(/^> ?/, '')) : lines
}

function returnedHeader(lines: readonly string[]): HeaderField[] {
  const first = lines.findIndex((line) => /^\s*[A-Za-z][\w-]{0,60}:/.test(line))
  if (first < 0) return []
  const indent = /^\s*/.exec(lines[first] ?? '')?.[0] ?? ''
  const rest = lines.slice(first).map((line) => (line.startsWith(indent) ? line.slice(indent.length) : line))
  return headerFields(Buffer.from(rest.join('\n').slice(0, maxHeader)))
}
