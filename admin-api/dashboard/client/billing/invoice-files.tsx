/** Downloads of an invoice, and a link to its print view. */
import type { JSX } from 'preact'
import { save } from '../app/api.ts'
import { showFault } from '../app/query.ts'
import { Icon } from '../parts/icon.tsx'
import type { Invoice } from '../wire/api.d.ts'
import { texts } from './billing-texts.ts'

interface FilesProps {
  readonly invoice: Invoice
  /** URL of the print view. */
  readonly print: string
  readonly csv: () => Promise<unknown>
}

export function InvoiceFiles({ invoice, print, csv }: FilesProps): JSX.Element {
  const w = texts()
  const saveCsv = async (): Promise<void> => {
    try {
      await save((await csv()) as Blob, `${invoice.number}.csv`)
    } catch (error) {
      showFault(error)
    }
  }
  const saveJson = (): Promise<void> =>
    save(new Blob([JSON.stringify(invoice, undefined, 2)], { type: 'application/json' }), `${invoice.number}.json`)
  return (
    <>
      <button class="button quiet" onClick={() => void saveCsv()} title={w.asFile({ format: 'CSV' })}>
        CSV
      </button>
      <button class="button quiet" onClick={() => void saveJson()} title={w.asFile({ format: 'JSON' })}>
        JSON
      </button>
      <a class="button" href={print} target="_blank" rel="noopener" title={w.print}>
        <Icon name="print" />
        <span class="shell-label">{w.print}</span>
      </a>
    </>
  )
}
