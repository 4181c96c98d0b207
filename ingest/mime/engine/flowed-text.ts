/** Joins the lines of `format=flowed` text (RFC 3676) to paragraphs, separately for each quote depth. */

interface Paragraph {
  readonly depth: number
  readonly pieces: string[]
}

const signature = '-- '

/** Joins flowed lines. `deletesBlank`: the space before a soft line break is not part of the text (`DelSp=yes`). */
export function unflowed(text: string, deletesBlank: boolean): string {
  const out: string[] = []
  let open: Paragraph | undefined
  const close = (): void => {
    if (open) out.push(quoted(open))
    open = undefined
  }
  for (const line of text.split(/\r?\n/)) {
    const { depth, content } = lineOf(line)
    const flows = content.endsWith(' ') && content !== signature
    if (open?.depth !== depth || content === signature) close()
    open ??= { depth, pieces: [] }
    open.pieces.push(flows && deletesBlank ? content.slice(0, -1) : content)
    if (!flows) close()
  }
  close()
  return out.join('\n')
}

/** The number of quote marks, and the line without quote marks and space-stuffing. */
function lineOf(line: string): { readonly depth: number; readonly content: string } {
  let depth = 0
  while (line[depth] === '>') depth++
  return { depth, content: line.slice(line[depth] === ' ' ? depth + 1 : depth) }
}

function quoted({ depth, pieces }: Paragraph): string {
  const content = pieces.join('')
  if (depth === 0) return content
  return content === '' ? '>'.repeat(depth) : `${'>'.repeat(depth)} ${content}`
}
