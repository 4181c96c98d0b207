/** Interface of a virus scanner, which is an external service. */

/** `virus` is the name of the detected virus; null without a virus. */
export interface ScanResult {
  readonly virus: string | null
}

export interface VirusScanner {
  /** Throws `ScanFailed`; immediately after an abort of the signal. */
  scan(octets: AsyncIterable<Uint8Array>, signal?: AbortSignal): Promise<ScanResult>
}

/** The scan has no result. */
export class ScanFailed extends Error {
  override readonly name = 'ScanFailed'
  /** The scanner was unreachable or aborted the scan, so other scans would fail too. */
  readonly isDown: boolean

  constructor(message: string, { isDown, cause }: { readonly isDown: boolean; readonly cause?: unknown }) {
    super(message, cause === undefined ? undefined : { cause })
    this.isDown = isDown
  }
}
