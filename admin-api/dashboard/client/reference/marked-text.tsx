/** Renders descriptions of the document: paragraphs, code and bold text. */
import type { JSX } from 'preact'

const parts = /(`[^`]+`|\*\*[^*]+\*\*)/

const Inline = ({ text }: { readonly text: string }): JSX.Element => (
  <>
    {text.split(parts).map((part) => {
      if (part.startsWith('`') && part.length > 2) return <code>{part.slice(1, -1)}</code>
      if (part.startsWith('**') && part.length > 4) return <b>{part.slice(2, -2)}</b>
      return part
    })}
  </>
)

/** A description. The document is always in English. */
export const MarkedText = ({ text }: { readonly text: string }): JSX.Element => (
  <div class="marked" lang="en">
    {text.split('\n\n').map((paragraph) => (
      <p>
        <Inline text={paragraph} />
      </p>
    ))}
  </div>
)
