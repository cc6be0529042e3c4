package shelf;

import org.apache.commons.lang3.StringUtils;

/** Labels books. */
public final class Labels {
    private Labels() {
    }

    /** The label of the book with this title. */
    public static String of(String title) {
        return "book: " + StringUtils.capitalize(title);
    }
}
