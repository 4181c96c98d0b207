/** Declares nothing. */
import '#test'
