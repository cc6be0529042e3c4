package shelf;

import static org.junit.Assert.assertEquals;

import org.junit.Test;

public class AppTest {
    @Test
    public void labelsStandInLines() {
        assertEquals("book: A\nbook: B\n", App.all("a", "b"));
    }
}
